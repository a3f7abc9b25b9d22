# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Contacts of the world to mvsim_msgs/Contacts."""

from __future__ import annotations

from collections.abc import Iterable

from geometry_msgs.msg import Point, Vector3
from mvsim_msgs.msg import Contact as ContactMessage
from mvsim_msgs.msg import Contacts
from std_msgs.msg import Header

from mvsim_core import Contact


def contacts_message(contacts: Iterable[Contact], header: Header) -> Contacts:
    """Return the contacts of a step, in the world frame."""
    return Contacts(
        header=header,
        contacts=[
            ContactMessage(
                entity_a=contact.a,
                entity_b=contact.b,
                position=Point(x=float(contact.point[0]), y=float(contact.point[1])),
                normal=Vector3(x=float(contact.normal[0]), y=float(contact.normal[1])),
                impulse=float(contact.impulse),
            )
            for contact in contacts
        ],
    )

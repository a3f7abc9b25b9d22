# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The message bus: topics and services over ZeroMQ and Protobuf, compatible with MVSim's."""

from mvsim_core.comms import messages
from mvsim_core.comms.client import Client
from mvsim_core.comms.endpoints import DEFAULT_PORT
from mvsim_core.comms.server import Server

__all__ = ["DEFAULT_PORT", "Client", "Server", "messages"]

# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Subscriptions: velocity and Ackermann commands of the vehicles."""

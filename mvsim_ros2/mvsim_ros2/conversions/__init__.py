# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Conversions of readings and poses to messages, and of messages to commands.

Free functions without node or graph. Long fields get `array.array`: assigning a numpy array to a
message field is hundreds of times slower.
"""

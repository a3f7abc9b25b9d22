# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From readings and poses to messages, and from messages to commands.

Free functions that know neither node nor graph. Long fields get `array.array`: assigning a numpy
array to a message field is hundreds of times slower.
"""

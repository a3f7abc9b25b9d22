# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzing, which finds inputs; what it found is a test elsewhere."""

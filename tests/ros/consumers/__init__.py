# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What consumers do with the topics, restated: small versions of their algorithms, and a drive."""

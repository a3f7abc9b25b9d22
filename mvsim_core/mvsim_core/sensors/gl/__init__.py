# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures by OpenGL without a window. Nothing of it is loaded before a camera needs it."""

# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Mutation tests of the kernels: do the tests notice a changed operator or number?"""

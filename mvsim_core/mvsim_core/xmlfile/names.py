# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names of the entities of a document: each only once, and numbered where none is given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mvsim_core.specs.params import Where

#: How entities without a name are called, by tag.
PATTERNS = {"vehicle": "veh{}", "block": "block{:03}", "actor": "actor{:03}"}


class EntityNames:
    """The names that are used, with the places where.

    Attributes:
        counts: Number of names given to entities without one, by tag.
        places: Where each name is used first.
    """

    def __init__(self, counts: Mapping[str, int], taken: Collection[str]) -> None:
        """Go on numbering after `counts`; names in `taken` are not given."""
        self.counts = dict(counts)
        self.places: dict[str, Where] = {}
        self._taken = taken

    def next(self, kind: str) -> str:
        """Return a name for an entity without one; it is not used yet."""
        pattern = PATTERNS[kind]
        name = ""
        while not name or name in self.places or name in self._taken:
            self.counts[kind] += 1
            name = pattern.format(self.counts[kind])
        return name

    def are_new(self, names: Sequence[str]) -> bool:
        """Return whether no name is used or given twice; also if all are "", to be numbered."""
        if not any(names):
            return True
        unique = set(names)
        new = len(unique) == len(names) and "" not in unique
        return new and self.places.keys().isdisjoint(unique)

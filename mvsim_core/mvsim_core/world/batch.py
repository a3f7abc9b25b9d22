# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of a world that are stepped as one: for learning, and for many variants of one run.

All copies have their rows in the same tables, copy after copy, so one kernel call serves all. What
is fixed in the world is shared; bodies of different copies neither meet nor see each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


class CopyState:
    """The state of one copy: its own entities and clock, and the arrays of all copies."""

    def __init__(self, data: Data, index: int, base: Data, seed: int) -> None:
        """Stand for copy `index`; entities get tokens of their own."""
        self._data = data
        self.clock: IntArray = data.clock[index : index + 1]
        self.seed = seed
        self.relief = data.relief
        self.contacts = data.contacts
        self.followers = data.followers
        self.sensors: dict[str, Any] = {}
        self.joints_of = base.joints_of
        self.joints: dict[str, JointState] = {}
        self.entities: dict[str, Entity] = {
            name: _shifted(entity, index, base) for name, entity in base.entities.items()
        }

    def __getattr__(self, name: str) -> Rows:
        """Return an array of all copies."""
        if name not in TABLES:
            raise AttributeError(name)
        rows: Rows = getattr(self._data, name)
        return rows

    @property
    def ticks(self) -> int:
        """Steps since the start or the last reset of the copy."""
        return int(self.clock[0])


class WorldCopy(Entities):
    """One copy of a batch: read and command it like a world; the batch steps it.

    Attributes:
        index: Which one it is.
    """

    data: CopyState

    def __init__(self, batch: Batch, index: int, state: CopyState) -> None:
        """Look entities up in a copy."""
        super().__init__(batch.model, state, batch.runtime)
        self.index = index
        self._batch = batch
        self._own = {entity.row for entity in state.entities.values()}
        self._fixed_sensors: list[Any] = []

    @property
    def standalone_sensors(self) -> dict[str, Any]:
        """Sensors that are fixed in the world, by name."""
        return {sensor.name: sensor for sensor in self._fixed_sensors}

    @property
    def contacts(self) -> list[Any]:
        """Pairs in contact now, sorted by names."""
        return self._batch.contacts_of(self)

    def state(self) -> Data:
        """Return a snapshot, which also a single world of the same model can restore."""
        return self._batch.state_of(self)

    def restore(self, snapshot: Data) -> None:
        """Return to a snapshot of this or another copy, or of the world they were made of.

        Raises:
            BuildError: It holds other entities than the copies.
        """
        self._batch.restore_copy(self, snapshot)

    def reset(self, seed: int | None = None) -> None:
        """Return to the state from which the batch was made, at tick 0, with its own seed."""
        self._batch.restore_copy(self, self._batch.base, self.data.seed if seed is None else seed)


class Batch(Sequence[WorldCopy]):
    """Copies of a world, stepped as one; made by `World.replicate`.

    Vehicles can't be added, removed or welded in a copy.

    Attributes:
        model: What never changes, the same for all.
        data: The rows of all copies.
        base: The state that was replicated, also that to which copies are reset.
        command_timeout: As in `World`.
    """

    def __init__(self, world: World, count: int) -> None:
        """Make `count` copies of a world as it is now; copy k gets seed + k."""
        if count < 1:
            raise BuildError(f"a batch needs at least one copy, got {count}")
        self.model = world.model
        self.command_timeout = world.command_timeout
        self.base = world.state()
        self.data = _replicated(self.base, count)
        self.runtime = Runtime(world.model)
        self._sets: dict[int, Any] = {}  # start of the copies' clocks -> their SensorSet
        self._ticks = 0
        self._sizes = {name: len(getattr(self.base, name)) for name in TABLES}
        self._copies: list[WorldCopy] = []
        for k in range(count):
            state = CopyState(self.data, k, self.base, world.seed + k)
            self._copies.append(WorldCopy(self, k, state))
            for entity in state.entities.values():
                self.runtime.add(entity, self.data, state)
        self.shapes = self.data.contacts.replicate(self.base.contacts, count, self._sizes["bodies"])
        for copy in self._copies:
            self._connect(copy)
            self.restore_copy(copy, self.base, copy.seed)

# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of a world that are stepped together: for learning and parameter studies.

All copies have their rows in the same tables, copy after copy, so one kernel call serves all.
Fixed parts of the world are shared; bodies of different copies neither collide nor appear in each
other's sensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mvsim_core.errors import BuildError, require_number
from mvsim_core.sensors.sensor_set import SensorSet
from mvsim_core.state.arrays import (
    FREE,
    LIMIT_MEMORY,
    STATIC,
    BoolArray,
    FloatArray,
    IntArray,
    Rows,
)
from mvsim_core.state.columns import numbers_of
from mvsim_core.state.entities import new_token
from mvsim_core.state.parts import parts_of
from mvsim_core.state.rows import bytes_of, copy_rows
from mvsim_core.world.base import Entities
from mvsim_core.world.blank import STILL_COLUMNS, Blank, Places, keep_kernel, place_kernel
from mvsim_core.world.contacts import Contact, contacts_of
from mvsim_core.world.data import Data, JointState
from mvsim_core.world.handles import ByName, Handle
from mvsim_core.world.joints import connect
from mvsim_core.world.model import Model
from mvsim_core.world.overlaps import report_overlaps
from mvsim_core.world.profile import Profile
from mvsim_core.world.replicas import (
    OWN,
    entity_of,
    layout_of,
    replicate_shapes,
    replicated,
    shift_rows,
)
from mvsim_core.world.runtime import Runtime
from mvsim_core.world.step import PHASES, SENSORS, refuse, step_physics
from mvsim_core.world.ticks import Finish, Ticks

#: Of so many steps one is made phase by phase. All copies list what is near for it.
MEASURED = 1000
POSE = ["x", "y", "yaw"]
IMPULSES = ("impulse0", "impulse1", "impulse2", "impulse3")


class CopyState:
    """The state of one copy: its own entities and clock, and the arrays of all copies."""

    def __init__(self, data: Data, base: Data, index: int, seed: int) -> None:
        """Make the state of a copy; its entities get tokens of their own."""
        sizes = {name: len(getattr(base, name)) for name in OWN}
        self.clock: IntArray = data.clock[index : index + 1]
        self.seed = seed
        self.contacts = data.contacts
        self.followers = data.followers
        self.sensors: dict[str, Any] = {}
        self.entities = {
            name: entity_of(entity, sizes, index) for name, entity in base.entities.items()
        }
        self.joints: dict[str, JointState] = {
            name: replace(joint, token=new_token(), joint=-1, pivot=-1)
            for name, joint in base.joints.items()
        }
        self._data = data

    def __getattr__(self, name: str) -> Any:
        """Return an array of all copies, or another part that they share."""
        if name.startswith("__") or name == "_data":
            raise AttributeError(name)
        return getattr(self._data, name)

    @property
    def ticks(self) -> int:
        """Steps since the start or the last reset of the copy."""
        return int(self.clock[0])

    @property
    def relief(self) -> bool:
        """Whether the ground of any copy was ever more than one level plane."""
        return self._data.relief

    @relief.setter
    def relief(self, value: bool) -> None:
        self._data.relief = value


class WorldCopy(Entities):
    """One copy of a batch: read and command it like a world; the batch steps it.

    Attributes:
        index: Number of the copy.
    """

    def __init__(self, batch: Batch, index: int, seed: int) -> None:
        """Make handles of the entities of a copy."""
        state = CopyState(batch.data, batch.base, index, seed)
        super().__init__(batch.model, cast(Data, state), batch.runtime)
        self.index = index
        self._batch = batch
        self._fixed_sensors: list[Any] = []

    @property
    def standalone_sensors(self) -> dict[str, Any]:
        """Sensors that are fixed in the world, by name."""
        return ByName("sensor", ((s.name, s) for s in self._fixed_sensors))

    @property
    def _all_data(self) -> Data:
        """The state with the rows of all copies."""
        return self._batch.data

    @property
    def contacts(self) -> list[Contact]:
        """Pairs in contact now, sorted by names."""
        return self._batch.contacts_of(self)

    def state(self) -> Data:
        """Return a snapshot; the world that was replicated can restore it too."""
        return self._batch.state_of(self)

    def restore(self, snapshot: Data) -> None:
        """Return to a snapshot of this or another copy, or of the world that was replicated.

        Raises:
            BuildError: Its entities differ from those of the copies.
        """
        self._batch.restore_copy(self, snapshot, snapshot.seed)

    def teleport(
        self, name: str | Handle, x: float, y: float, yaw: float, z: float | None = None
    ) -> None:
        """Put a body at a pose of the world, standing still (see `Handle.teleport`)."""
        self._batch.renew_ground()
        super().teleport(name, x, y, yaw, z)

    def reset(self, seed: int | None = None) -> None:
        """Return to the state that was replicated.

        Args:
            seed: Random seed from now on; None: keep the seed of the copy.
        """
        seed = self.data.seed if seed is None else seed
        self._batch.restore_copy(self, self._batch.base, seed)

    def all_sensors(self) -> list[Any]:
        """Return all sensors of the copy: vehicle by vehicle, then the fixed ones."""
        own = [s for e in self.data.entities.values() for s in self.sensors_of(e)]
        return own + self._fixed_sensors


class Batch:
    """Copies of a world, stepped as one; made by `World.replicate`.

    `batch[k]` is copy k; it is read and commanded like a world.

    Attributes:
        model: The compiled world, shared by all copies.
        data: The rows of all copies.
        base: The state that was replicated, to which copies are reset.
        runtime: Systems, ground, scenes and sensors of all copies.
        command_timeout: As in `World`.
        met: (bodies,) which bodies touched something in the last `advance` of several ticks.
    """

    def __init__(
        self, model: Model, base: Data, count: int, command_timeout: float | None = None
    ) -> None:
        """Make `count` copies of a state; copy k gets its seed + k."""
        if count < 1:
            raise BuildError(f"a batch needs at least one copy, got {count}")
        self.model = model
        self.base = base.copy()
        self.command_timeout = command_timeout
        self.runtime = Runtime(model)
        self.data = replicated(self.base, count)
        self.data.contacts.scratch.by_copy = True
        self._ticks = 0
        self._ground_moved = False  # blocks that are ground may have been, since it was renewed
        self._compiled = Ticks()
        self.met: BoolArray = np.zeros(len(self.data.bodies), bool)
        self._sizes = {name: len(getattr(self.base, name)) for name in OWN}
        self._profile = Profile(PHASES)
        self._sets: dict[int, SensorSet] = {}  # tick of the batch at a copy's tick 0 -> sensors
        self._starts: dict[int, int] = {}  # copy -> its key in _sets
        self._shapes = replicate_shapes(self.base, self.data.contacts, count)
        total = len(self.data.contacts.shapes)
        self._base_shape: IntArray = np.full(total, -1, np.int64)
        self._shape_copy: IntArray = np.full(total, -1, np.int64)
        fixed = self.base.contacts.shapes.rows["body"] < 0
        for k, shapes in enumerate(self._shapes):
            there = shapes >= 0
            self._base_shape[shapes[there]] = np.flatnonzero(there)
            self._shape_copy[shapes[there & ~fixed]] = k
        self._copies = [WorldCopy(self, k, base.seed + k) for k in range(count)]
        for copy in self._copies:
            self._fill(copy)
        self._places: dict[tuple[str, ...], Places] = {}
        self._blank = Blank(self.base, self._copies, self._shapes)
        for copy in self._copies:
            self.restore_copy(copy, self.base, copy.seed)
        for name in OWN:
            if len(getattr(self.base, name)):
                rows = bytes_of(getattr(self.data, name).reshape(count, -1))
                self._blank.tables[name] = rows.copy()

    def __len__(self) -> int:
        """Return the number of copies."""
        return len(self._copies)

    def __getitem__(self, index: int) -> WorldCopy:
        """Return a copy."""
        return self._copies[index]

    def __iter__(self) -> Iterator[WorldCopy]:
        """Iterate over the copies."""
        return iter(self._copies)

    @property
    def dt(self) -> float:
        """Length of a tick [s]."""
        return self.model.dt

    @property
    def profile(self) -> dict[str, float]:
        """Wall seconds spent in each phase of the step so far."""
        return self._profile.sums()

    def step(self) -> None:
        """Advance all copies by one tick.

        Raises:
            StepError: A number of the state is not finite.
        """
        self._profile.start()
        if self.data.relief:
            self.renew_ground()
        if self.runtime.placed:
            report_overlaps(self.model, self.runtime, self.data)
        # one of many phase by phase, to know in which ratio they take their time
        parts = self.model, self.runtime, self.data, self._timeout_ticks(), self._profile
        compiled = self._ticks % MEASURED and (self._run_ticks(1) or self._compiled.step(*parts))
        if not compiled:
            step_physics(*parts)
        self._ticks += 1
        for start, sensors in self._sets.items():
            ticks = self._ticks - start
            if ticks >= sensors.next_tick:
                sensors.sample(self.data, ticks, ticks * self.model.dt)
        self._profile.mark(SENSORS)

    def advance(self, most: int, finish: Finish | None = None) -> int:
        """Advance all copies by one tick or more; what touches meanwhile is in `met`.

        Args:
            most: Most ticks, >= 1.
            finish: Called if all ticks are done; to follow a part twice must do no harm.

        Returns:
            How many they are.

        Raises:
            StepError: A number of the state is not finite.
        """
        free, done = most, 0
        for start, sensors in self._sets.items():
            free = min(free, sensors.next_tick - 1 - (self._ticks - start))
        self.met[:] = False
        if free > 1 or (free == 1 and self._ticks % MEASURED):
            done = self._run_ticks(free, finish if free == most else None)
            self._ticks += done
        if done == 0:
            self.step()
            if most == 1 and finish is not None:
                finish(parts_of([(0, len(self))], ready=True), 0)
        return max(done, 1)

    def _run_ticks(self, most: int, finish: Finish | None = None) -> int:
        """Advance by up to `most` ticks in one compiled call; return how many."""
        parts = self.model, self.runtime, self.data, (most, self._timeout_ticks())
        return self._compiled.advance(*parts, self._profile, refuse, self.met, finish)

    def _timeout_ticks(self) -> int:
        return 0 if not self.command_timeout else round(self.command_timeout / self.model.dt)

    def run(self, seconds: float) -> None:
        """Advance all copies by `seconds` of simulated time (whole ticks).

        Raises:
            ArgumentError: `seconds` is negative or not finite.
        """
        require_number("run: seconds", seconds, "s", least=0.0)
        left = round(seconds / self.model.dt)
        while left > 0:
            left -= self.advance(left)

    def reset(self, seed: int | None = None) -> None:
        """Reset all copies; copy k gets seed + k, or keeps its seed."""
        for k, copy in enumerate(self._copies):
            copy.reset(None if seed is None else seed + k)

    def reset_copies(self, copies: IntArray, seeds: IntArray | None = None) -> None:
        """Return some copies to the state that was replicated; it is fast without sensors.

        Args:
            copies: (m,) their numbers, each once.
            seeds: (m,) seeds from now on; None: they keep theirs.
        """
        if seeds is not None:
            for k, seed in zip(copies.tolist(), seeds.tolist(), strict=True):
                self._copies[k].data.seed = seed
        if self.base.sensors or len(self.base.contacts.contacts):
            for k in copies.tolist():
                self._copies[k].reset()
            return
        count = len(self)
        for name, blank in self._blank.tables.items():
            table = bytes_of(getattr(self.data, name).reshape(count, -1))
            table[copies] = blank[copies]
        self.data.clock[copies] = self.base.clock[0]
        contacts = self.data.contacts
        if len(contacts.contacts):
            chosen = np.zeros(count + 1, bool)  # the last one: shapes that all copies share
            chosen[copies] = True
            kept = copy_rows(contacts.contacts)
            contacts.contacts = kept[: keep_kernel(kept, self._shape_copy, chosen)]
        for rows, source in self._blank.joints:
            for field in IMPULSES:
                contacts.joints.rows[field][rows[copies]] = source[field]
        contacts.shapes_moved(self._blank.static[copies].ravel(), self._movers_of(copies))
        self._ground_moved = True

    def place(self, names: Sequence[str], copies: IntArray, poses: FloatArray) -> None:
        """Move bodies of some copies, each to a pose of its own, at rest.

        Overlaps are not reported. On ground with relief, and for welded bodies, it is as slow as
        the teleport of each.

        Args:
            names: Of m entities.
            copies: (n,) numbers of the copies, each once.
            poses: (n, m, 3) x, y [m] and yaw [rad].

        Raises:
            UnknownName: There is no entity of a name.
            IndexError: There is no copy of a number.
            ValueError: The poses have another shape.
        """
        data = self.data
        if data.relief or len(data.followers):
            for k, of_copy in zip(copies.tolist(), poses.tolist(), strict=True):
                for name, pose in zip(names, of_copy, strict=True):
                    self._copies[k].teleport(name, *pose)
            return
        places = self._places_of(tuple(names))
        copies = np.asarray(copies, np.int64)
        shapes = places.shapes[:, copies].ravel()  # an IndexError if there is no such copy
        if poses.shape != (len(copies), len(names), 3):
            wanted = (len(copies), len(names), 3)
            raise ValueError(f"poses: expected an array of shape {wanted}, got {poses.shape}")
        poses = np.ascontiguousarray(poses, float)
        given = copies, places.rows, self._sizes["bodies"], poses
        place_kernel(data.bodies, numbers_of(data.bodies), STILL_COLUMNS, *given)
        if len(places.wheels):
            data.wheels["omega"][self._sizes["wheels"] * copies[:, None] + places.wheels] = 0.0
        if len(places.limits):
            limits = self._sizes["limits"] * copies[:, None] + places.limits
            for field in LIMIT_MEMORY:
                data.limits[field][limits] = 0.0
        data.contacts.shapes_moved(shapes, self._movers_of(copies))
        self._ground_moved = True

    def _places_of(self, names: tuple[str, ...]) -> Places:
        if names not in self._places:
            entities = [self._copies[0].entity(name) for name in names]
            self._places[names] = Places(entities, self._blank)
        return self._places[names]

    # ------------------------------------------------------------ for copies
    def renew_ground(self) -> None:
        """Let the ground be where the blocks are that it consists of."""
        if self._ground_moved:
            self.runtime.ground.all_moved(self.data.bodies)
            self._ground_moved = False

    def contacts_of(self, copy: WorldCopy) -> list[Contact]:
        """Return the contacts of a copy, sorted by names."""
        count = self._sizes["bodies"]
        names = {e.row: e.name for e in copy.data.entities.values()}
        touches, k = self.data.contacts.touches(), copy.index
        touches = [t for t in touches if k in (t.a // count, t.b // count)]
        return contacts_of(touches, names, self.model.fixtures)

    def state_of(self, copy: WorldCopy) -> Data:
        """Return the state of a copy as that of a single world."""
        snapshot, k = self.base.copy(), copy.index
        snapshot.clock[:] = copy.data.clock
        snapshot.seed = copy.data.seed
        snapshot.relief = self.data.relief
        snapshot.sensors = deepcopy(copy.data.sensors)
        for name, size in self._sizes.items():
            rows = getattr(self.data, name)[k * size : (k + 1) * size].copy()
            shift_rows(name, rows, self._sizes, -k)
            getattr(snapshot, name)[:] = rows
        snapshot.bodies["copy"] = 0
        poses, before = snapshot.bodies[POSE], self.base.bodies[POSE]
        for row in np.flatnonzero((poses != before) & (snapshot.bodies["kind"] == STATIC)):
            snapshot.contacts.body_moved(int(row))
        contacts = self.data.contacts.contacts
        own = contacts[self._is_own(contacts, k)].copy()
        for end in ("a", "b"):
            own[f"shape_{end}"] = self._base_shape[own[f"shape_{end}"]]
            serials = snapshot.contacts.shapes.rows["serial"]
            own[f"serial_{end}"] = serials[own[f"shape_{end}"]]
        snapshot.contacts.contacts = own
        for name, joint in copy.data.joints.items():
            if joint.joint >= 0:
                target = snapshot.contacts.joints.rows[self.base.joints[name].joint]
                source = self.data.contacts.joints.rows[joint.joint]
                for field in IMPULSES:
                    target[field] = source[field]
        return snapshot

    def restore_copy(self, copy: WorldCopy, snapshot: Data, seed: int) -> None:
        """Put a copy into the state of a single world of the same entities.

        Raises:
            BuildError: Its entities, welds or joints differ from those of the copy.
        """
        if layout_of(snapshot) != layout_of(self.base):
            raise BuildError(
                "the snapshot holds other vehicles, blocks or welds than the copies of the batch"
            )
        k = copy.index
        for name, size in self._sizes.items():
            rows = getattr(snapshot, name).copy()
            shift_rows(name, rows, self._sizes, k)
            getattr(self.data, name)[k * size : (k + 1) * size] = rows
        self.data.bodies["copy"][k * self._sizes["bodies"] : (k + 1) * self._sizes["bodies"]] = k
        copy.data.clock[:] = snapshot.clock
        copy.data.seed = seed
        self.data.relief = self.data.relief or snapshot.relief
        self._restore_contacts(copy, snapshot)
        self.data.contacts.shapes_moved(self._blank.static[copy.index])
        self._ground_moved = True
        self._restore_sensors(copy, snapshot)

    def _restore_contacts(self, copy: WorldCopy, snapshot: Data) -> None:
        k, contacts = copy.index, self.data.contacts
        others = contacts.contacts[~self._is_own(contacts.contacts, k)]
        own = copy_rows(snapshot.contacts.known_contacts())
        for end in ("a", "b"):
            own[f"shape_{end}"] = self._shapes[k][own[f"shape_{end}"]]
            own[f"serial_{end}"] = contacts.shapes.rows["serial"][own[f"shape_{end}"]]
        rows = np.concatenate([others, own])
        contacts.contacts = rows[np.lexsort((rows["shape_b"], rows["shape_a"]))]
        for name, joint in copy.data.joints.items():
            if joint.joint >= 0:
                source = snapshot.contacts.joints.rows[snapshot.joints[name].joint]
                for field in IMPULSES:
                    contacts.joints.rows[field][joint.joint] = source[field]
        contacts.scratch.near_valid = False

    def _restore_sensors(self, copy: WorldCopy, snapshot: Data) -> None:
        sensors = copy.all_sensors()
        if copy.index in self._starts:
            start = self._starts.pop(copy.index)
            self._sets[start].remove(sensors, self._ticks - start)
        for sensor in sensors:
            data = deepcopy(snapshot.sensors[sensor.full_name])
            data.seed = copy.data.seed
            copy.data.sensors[sensor.full_name] = data
            sensor.bind(data)
        self._sets = {start: s for start, s in self._sets.items() if len(s)}
        if sensors:
            start = self._ticks - copy.ticks
            self._starts[copy.index] = start
            self._sets.setdefault(start, SensorSet()).add(sensors, copy.ticks)

    def _movers_of(self, copies: IntArray) -> IntArray:
        """Return the numbers of the movers of copies."""
        size = len(self.base.movers)
        numbers: IntArray = (size * copies[:, None] + np.arange(size)).ravel()
        return numbers

    def _is_own(self, contacts: Rows, k: int) -> Any:
        copies = self._shape_copy
        return (copies[contacts["shape_a"]] == k) | (copies[contacts["shape_b"]] == k)

    def _fill(self, copy: WorldCopy) -> None:
        """Add the entities, sensors and joints of a copy."""
        run, data = self.runtime, self.data
        entities = list(copy.data.entities.values())
        run.add(entities, data)
        if self.base.sensors:  # else the world has none, or they were removed
            for entity in entities:
                run.new_sensors(entity, copy.index, self.base.sensors)
            fixed = self.model.assembler.sensors(None, run.scene, run.scene3d)
            copy._fixed_sensors = [one for one in fixed if one.full_name in self.base.sensors]
        for sensor in copy._fixed_sensors:
            sensor.bind_rows(copy=copy.index)
        # the solver goes through joints in the order of their rows, PIVOT is that of the base
        first = copy.index * self._sizes["pivots"]
        for name, joint in sorted(self.base.joints.items(), key=lambda one: one[1].joint):
            connect(copy.data, name, 0.0, first + joint.pivot if joint.pivot >= 0 else FREE)

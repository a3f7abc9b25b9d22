# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzing of loading and stepping with changed worlds.

    nice -n 19 python -m tests.fuzz.worlds --minutes 30

Each world is loaded and stepped in a process of its own. It must load within 2 s of processor
time and 1 GB or be refused with one of the public errors; a world that loads must step 200 times,
each step within those limits. What breaks a rule is printed and kept in the folder `--keep`.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mvsim_core import MvsimError, load_world
from mvsim_core.specs.sensor import CameraSpec, RgbdCameraSpec, SensorSpec, StereoCameraSpec
from mvsim_core.specs.world import WorldSpec
from tests.fuzz.mutations import Mutator
from tests.golden.state_hash import TEXT
from tests.ros.worlds import all_sensors, crowded, three_robots
from tests.unit.xmlfile.test_fuzz import PROPER

WORLDS = Path(__file__).resolve().parents[2] / "worlds"
#: Most processor time of a load, and of a step [s].
TIME = 2.0
#: Most memory that a world may take [MB].
MEMORY = 1000.0
STEPS = 200
CAMERAS = CameraSpec, RgbdCameraSpec, StereoCameraSpec
#: Processor time [s] after which the steps of a world end; cameras take their time.
ENOUGH = 8.0
#: Time between two looks at a child, and after which it hangs [s].
POLL, HANG = 0.005, 120.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a world.

    Attributes:
        kind: `refused`, `stepped`, `slow` (fewer steps, each within the limits), or the rule that
            was broken.
        detail: The error, or what happened.
        load: Processor time of the load [s].
        memory: Memory that it took [MB].
    """

    kind: str
    detail: str = ""
    load: float = 0.0
    memory: float = 0.0

    @property
    def broken(self) -> bool:
        """Whether a rule is broken."""
        return self.kind not in ("refused", "stepped", "slow")


def seeds(folder: Path) -> list[str]:
    """Return worlds to start from; what they name lies in `folder`, which is filled."""
    shutil.copytree(WORLDS, folder, dirs_exist_ok=True)
    shipped = [path.read_text() for path in sorted(folder.glob("*.world.xml"))]
    made = [write(folder).read_text() for write in (all_sensors, crowded, three_robots)]
    return [*shipped, *made, TEXT, PROPER.decode()]


def outcome(text: str, folder: Path, *, steps: int = STEPS) -> Outcome:
    """Load and step a world in a child process and return what became of it."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _child(text, folder, steps, write_end)
    os.close(write_end)
    status = _watched(pid)
    with os.fdopen(read_end) as pipe:
        answer = pipe.read()
    if isinstance(status, str):
        return Outcome(status, answer)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return Outcome("crash", f"{name} {answer}")
    return Outcome(**json.loads(answer))


def _watched(pid: int) -> int | str:
    """Wait for a child; end it where it takes too much. Return its status, or why it was ended."""
    polls = 0  # not the time: both processes may be stopped for a while
    while True:
        polls += 1
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            ticks = sum(map(int, Path(f"/proc/{pid}/stat").read_text().split()[13:15]))
        except (OSError, IndexError):
            continue
        why = ""
        if pages * resource.getpagesize() > (_resident() + 2 * MEMORY) * 1e6:
            why = "memory"
        if ticks / os.sysconf("SC_CLK_TCK") > 10 * TIME + ENOUGH:
            why = "time"
        if polls * POLL > HANG:
            why = "hang"
        if why:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return why
        time.sleep(POLL)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() * 1e-6


def _peak() -> float:
    """Return the most memory [MB] that this process had since its peak was last reset."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024e-6


def _child(text: str, folder: Path, steps: int, write_end: int) -> None:
    """Load and step; write the outcome and end the process."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    warnings.simplefilter("ignore")
    os.chdir(folder)
    try:
        result = asdict(tried(text, folder, steps))
    except BaseException as error:
        lines = traceback.format_exception(error)
        result = {"kind": type(error).__name__, "detail": "".join(lines[-12:])}
    os.write(write_end, json.dumps(result).encode()[:60_000])
    os._exit(0)


def tried(text: str, folder: Path, steps: int) -> Outcome:
    """Load and step a world in this process; what is no public error rises."""
    path = folder / "fuzzed.world.xml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    before, begin = _resident(), time.process_time()
    Path("/proc/self/clear_refs").write_text("5")  # the peak of what ran before is not of this

    def report(kind: str, detail: str = "") -> Outcome:
        memory = _peak() - before
        if memory > MEMORY:
            kind = f"memory after {kind}"
        return Outcome(kind, detail, load, memory)

    try:
        world = load_world(path)
    except MvsimError as error:
        load = time.process_time() - begin
        said = str(error).strip()
        if not said:
            return report("no message", type(error).__name__)
        return report("refused" if load < TIME else "slow to refuse", said[:2000])
    load = time.process_time() - begin
    if load > TIME:
        return report("slow to load", f"{load:.2f} s")
    start = time.process_time()
    for step in range(steps):
        begin = time.process_time()
        try:
            world.step()
        except MvsimError as error:
            return report(type(error).__name__, f"step {step}: {error}")
        now = time.process_time()
        if now - begin > TIME:
            return report("slow step", f"step {step} took {now - begin:.1f} s")
        if now - start > ENOUGH:
            return report("slow", f"{step} steps")
    world.close()
    return report("stepped")


def warm(texts: list[str], folder: Path) -> None:
    """Load the kernels, so that they count for no world."""
    for text in texts:
        path = folder / "fuzzed.world.xml"
        path.write_text(text)
        world = load_world(path, change=_without_cameras)
        world.run(0.3)
        world.close()


def _without_cameras(spec: WorldSpec) -> WorldSpec:
    """Return a world without cameras: a GL context must not be shared with child processes."""

    def others(sensors: tuple[SensorSpec, ...]) -> tuple[SensorSpec, ...]:
        return tuple(s for s in sensors if not isinstance(s, CAMERAS))

    vehicles = tuple(replace(v, sensors=others(v.sensors)) for v in spec.vehicles)
    return replace(spec, vehicles=vehicles, sensors=others(spec.sensors))


def main() -> int:
    """Fuzz for the time that is given on the command line."""
    parser = argparse.ArgumentParser(description="Load and step changed worlds.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz_findings"))
    options = parser.parse_args()
    end = time.monotonic() + 60.0 * options.minutes
    counts: Counter[str] = Counter()
    slowest = largest = Outcome("none")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = seeds(folder)
        warm(texts, folder)
        mutator = Mutator(options.seed, texts)
        while time.monotonic() < end:
            text = mutator.world()
            found = outcome(text, folder)
            if found.kind.startswith("slow "):  # kernels compile at their first use
                found = outcome(text, folder)
            counts[found.kind] += 1
            slowest = max(slowest, found, key=lambda o: o.load)
            largest = max(largest, found, key=lambda o: o.memory)
            if found.broken:
                options.keep.mkdir(exist_ok=True)
                file = options.keep / f"{found.kind.split()[0]}_{sum(counts.values())}.world.xml"
                file.write_bytes(text.encode("utf-8", "surrogatepass"))
                sys.stdout.write(f"FAULT {found.kind} {file}: {found.detail[-1500:]}\n")
                sys.stdout.flush()
    sys.stdout.write(
        f"{sum(counts.values())} worlds: {dict(counts.most_common())}\n"
        f"longest load {slowest.load:.2f} s, most memory {largest.memory:.0f} MB\n"
    )
    return 1 if set(counts) - {"refused", "stepped", "slow"} else 0


if __name__ == "__main__":
    sys.exit(main())

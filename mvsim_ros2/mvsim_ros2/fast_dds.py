# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fast DDS as a simulator needs it, where it is used and nobody else has set it up.

* Room for large messages: the shared-memory segment is sized after the socket buffers, half a
  megabyte by default, and best-effort messages that do not fit never arrive.
* Prompt discovery: see fast_dds.xml.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

TRANSPORTS, PROFILES = "FASTDDS_BUILTIN_TRANSPORTS", "FASTDDS_DEFAULT_PROFILES_FILE"
#: The default transports with a segment of 64 MB, twice the buffer.
LARGE = "DEFAULT?sockets_size=32MB"
#: Any of these shows that the user has set Fast DDS up.
USER_VARIABLES = (
    TRANSPORTS,
    PROFILES,
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "ROS_DISCOVERY_SERVER",
    "RMW_FASTRTPS_USE_QOS_FROM_XML",
)
USER_FILE = "DEFAULT_FASTDDS_PROFILES.xml"
SHARED_MEMORY = Path("/dev/shm")
#: Free shared memory [bytes] below which we take none; containers have 64 MB in all by default.
LEAST_FREE = 256 * 2**20


def decided_by_user(environment: Mapping[str, str], folder: Path) -> bool:
    """Return whether the middleware is another one, or set up in `environment` or `folder`."""
    rmw = environment.get("RMW_IMPLEMENTATION", "")
    if rmw not in ("", "rmw_fastrtps_cpp"):
        return True
    return any(environment.get(v) for v in USER_VARIABLES) or (folder / USER_FILE).exists()


def has_room(folder: Path = SHARED_MEMORY) -> bool:
    """Return whether there is enough shared memory."""
    try:
        return shutil.disk_usage(folder).free >= LEAST_FREE
    except OSError:
        return False


@contextmanager
def set_up(
    environment: MutableMapping[str, str] = os.environ, *, large_messages: bool = True
) -> Iterator[bool]:
    """Set Fast DDS up within a block in which the first participant is made; yield whether so.

    The profile also holds for later participants of the process, the large segment does not.
    """
    if decided_by_user(environment, Path.cwd()):
        yield False
        return
    ours = {PROFILES: str(files("mvsim_ros2") / "fast_dds.xml")}
    if large_messages and has_room():
        ours[TRANSPORTS] = LARGE
    environment.update(ours)
    try:
        yield True
    finally:
        for name in ours:
            del environment[name]  # not for child processes

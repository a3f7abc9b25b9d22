# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of Fast DDS, where it is the middleware and the user has not configured it.

* Large messages: the size of the shared-memory segment follows the socket buffers, half a megabyte
  by default, and best-effort messages that do not fit never arrive.
* Fast discovery: see fast_dds.xml.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

TRANSPORTS, PROFILES = "FASTDDS_BUILTIN_TRANSPORTS", "FASTDDS_DEFAULT_PROFILES_FILE"
#: The default transports with a segment of 64 MB, twice the socket buffer.
LARGE_SEGMENT = "DEFAULT?sockets_size=32MB"
#: Any of these shows that the user has configured Fast DDS.
USER_VARIABLES = (
    TRANSPORTS,
    PROFILES,
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "ROS_DISCOVERY_SERVER",
    "RMW_FASTRTPS_USE_QOS_FROM_XML",
)
USER_FILE = "DEFAULT_FASTDDS_PROFILES.xml"
SHARED_MEMORY = Path("/dev/shm")
#: Free shared memory [bytes] needed for the large segment; containers have 64 MB by default.
MIN_FREE = 256 * 2**20


def configured_by_user(environment: Mapping[str, str], folder: Path) -> bool:
    """Return whether the middleware is another one, or configured in environment or folder."""
    rmw = environment.get("RMW_IMPLEMENTATION", "")
    if rmw not in ("", "rmw_fastrtps_cpp"):
        return True
    return any(environment.get(v) for v in USER_VARIABLES) or (folder / USER_FILE).exists()


def has_shared_memory(folder: Path = SHARED_MEMORY) -> bool:
    """Return whether there is enough free shared memory for the large segment."""
    try:
        return shutil.disk_usage(folder).free >= MIN_FREE
    except OSError:
        return False


@contextmanager
def configured(
    environment: MutableMapping[str, str] = os.environ, *, large_messages: bool = True
) -> Iterator[bool]:
    """Configure Fast DDS within a block that creates the first participant; yield whether done.

    The profile applies to later participants of the process too, the large segment does not.
    """
    if configured_by_user(environment, Path.cwd()):
        yield False
        return
    variables = {PROFILES: str(files("mvsim_ros2.runtime") / "fast_dds.xml")}
    if large_messages and has_shared_memory():
        variables[TRANSPORTS] = LARGE_SEGMENT
    environment.update(variables)
    try:
        yield True
    finally:
        for name in variables:
            del environment[name]  # not for child processes

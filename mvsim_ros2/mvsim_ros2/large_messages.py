# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Room in shared memory for large messages, where Fast DDS is used and nobody has set it up.

Fast DDS sizes its shared-memory segment after the socket buffers: half a megabyte by default, and
best-effort messages that do not fit never arrive. A profile file with transports of its own would
do as well, but with it participants of one machine found each other up to three seconds late.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "FASTDDS_BUILTIN_TRANSPORTS"
#: The default transports with a shared-memory segment of 64 MB, twice the buffer.
TRANSPORTS = "DEFAULT?sockets_size=32MB"
#: Any of these shows that the user has set Fast DDS up.
USER_VARIABLES = (
    VARIABLE,
    "FASTDDS_DEFAULT_PROFILES_FILE",
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
def large_messages(environment: MutableMapping[str, str] = os.environ) -> Iterator[bool]:
    """Give participants that are made within the block a large segment; yield whether so."""
    if decided_by_user(environment, Path.cwd()) or not has_room():
        yield False
        return
    environment[VARIABLE] = TRANSPORTS
    try:
        yield True
    finally:
        del environment[VARIABLE]  # neither for child processes nor for further participants

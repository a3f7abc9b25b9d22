# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
#
# The suite without a ROS installation: the wheels that scripts/bootstrap.py installs.
#   docker build -t mvsim .
#   docker run --rm -it mvsim                        # make demo
#   docker run --rm -it mvsim .venv/bin/mvsim run examples/bus.world.xml --server
# For clients of the message bus on the host: --network host. Colour cameras are rendered in software;
# on an NVIDIA GPU with its container toolkit: --gpus all -e NVIDIA_DRIVER_CAPABILITIES=graphics,utility
FROM debian:bookworm-slim

RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates g++ git libegl1 libgl1 libgl1-mesa-dri make python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --shell /bin/bash mvsim
USER mvsim
WORKDIR /home/mvsim/mvsim
COPY --chown=mvsim:mvsim . .

# `dev` has the tools of `make test` too.
ARG KIND=run
RUN python3 scripts/bootstrap.py ${KIND}

CMD ["make", "demo"]

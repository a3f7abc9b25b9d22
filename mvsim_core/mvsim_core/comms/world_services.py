# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Services of a world: read and set poses, command vehicles, end the simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from mvsim_core.comms import messages
from mvsim_core.comms.client import SERVICES, Client
from mvsim_core.comms.conversions import pose_message, pose_of
from mvsim_core.comms.offering import Submit
from mvsim_core.errors import CommandError, MvsimError, UnknownName
from mvsim_core.rendering.pinhole import compose
from mvsim_core.world.commands import MOST_SPEED, MOST_TORQUE
from mvsim_core.world.world import World

#: Largest coordinate of a pose [m].
FARTHEST = 1e9


class WorldServices:
    """The services of a world; all of them work in the thread that steps it.

    Args:
        client: The node that offers them.
        world: Returns the present world, or None.
        submit: Runs work in the thread that steps the world, also while it is paused.
        shutdown: Called when a client asks for the end of the simulation.
    """

    def __init__(
        self,
        client: Client,
        world: Callable[[], World | None],
        submit: Submit,
        shutdown: Callable[[], None],
    ) -> None:
        """Offer the services."""
        self._present = world
        self._shutdown = shutdown
        self._collided: set[int] = set()  # tokens of what has touched something
        handlers: dict[str, Callable[[Any], Any]] = {
            "get_pose": self._get_pose,
            "set_pose": self._set_pose,
            "set_controller_twist": self._set_twist,
            "set_wheel_torques": self._set_torques,
            "shutdown": self._stop,
        }
        for name, handler in handlers.items():
            request, answer = (messages.find(type_name) for type_name in SERVICES[name])
            client.offer(name, request, answer, partial(_answered, handler, answer), submit)

    def after_step(self) -> None:
        """Remember what touches something, until a client asks for it."""
        world = self._present()
        if world is None:
            return
        touching = world.data.bodies["touching"]
        if touching.any():
            for entity in world.data.entities.values():
                if touching[entity.row]:
                    self._collided.add(entity.token)

    # ------------------------------------------------------------ handlers
    def _world(self) -> World:
        world = self._present()
        if world is None:
            raise CommandError("no world is loaded")
        return world

    def _handle(self, name: str) -> Any:
        world = self._world()
        kind = world.entity(name).kind
        kinds = {"vehicle": world.vehicles, "block": world.blocks, "actor": world.actors}
        return kinds[kind][name]

    def _vehicle(self, name: str) -> Any:
        world = self._world()
        if name not in world.vehicles:
            raise UnknownName("vehicle", name, world.vehicles)
        return world.vehicles[name]

    def _take_collision(self, name: str) -> bool:
        """Return whether an entity touched something since the last question, and forget it."""
        world = self._world()
        entity = world.data.entities[name]
        collided = entity.token in self._collided or bool(
            world.data.bodies["touching"][entity.row]
        )
        self._collided.discard(entity.token)
        return collided

    def _get_pose(self, request: Any) -> Any:
        handle = self._handle(request.objectId)
        twist = handle.twist
        return messages.SrvGetPoseAnswer(
            success=True,
            pose=pose_message(handle.pose),
            twist=messages.twist(twist.vx, twist.vy, twist.wz),
            objectIsInCollision=self._take_collision(handle.name),
        )

    def _set_pose(self, request: Any) -> Any:
        handle = self._handle(request.objectId)
        world = self._world()
        if handle.name in world.actors:
            raise CommandError(f"{handle.name}: an actor follows its path")
        pose = pose_of(request.pose)
        if not all(abs(v) <= FARTHEST for v in pose):  # false for NaN
            raise CommandError(f"{handle.name}: a pose must be within {FARTHEST:g} m, rad")
        if request.relativeIncrement:
            pose = compose(handle.pose, pose)
        height = pose.z if request.relativeIncrement else pose.z or None
        handle.teleport(pose.x, pose.y, math.remainder(pose.yaw, math.tau), height)
        world.check_overlaps()
        answer = messages.SrvSetPoseAnswer(
            success=True, objectIsInCollision=self._take_collision(handle.name)
        )
        if request.relativeIncrement:
            answer.objectGlobalPose.CopyFrom(pose_message(handle.pose))
        return answer

    def _set_twist(self, request: Any) -> Any:
        vehicle, twist = self._vehicle(request.objectId), request.twistSetPoint
        _check_size("twist", MOST_SPEED, (twist.vx, twist.vy, twist.wz))
        vehicle.set_twist(vx=twist.vx, vy=twist.vy, wz=twist.wz)
        return messages.SrvSetControllerTwistAnswer(success=True)

    def _set_torques(self, request: Any) -> Any:
        vehicle = self._vehicle(request.objectId)
        _check_size("torque", MOST_TORQUE, request.torques)
        steering = request.steering if request.HasField("steering") else None
        vehicle.set_wheel_torques(list(request.torques), steering)
        return messages.SrvSetWheelTorquesAnswer(success=True)

    def _stop(self, request: Any) -> Any:
        self._shutdown()
        return messages.SrvShutdownAnswer(accepted=True)


def _answered(handler: Callable[[Any], Any], answer_type: Any, request: Any) -> Any:
    """Return the answer of a handler; an error becomes an answer of the same type."""
    try:
        return handler(request)
    except MvsimError as error:
        answer = answer_type(success=False, errorMessage=str(error))
        if "objectIsInCollision" in answer_type.DESCRIPTOR.fields_by_name:
            answer.objectIsInCollision = False
        return answer


def _check_size(what: str, most: float, values: Any) -> None:
    if not all(abs(value) <= most for value in values):  # false for NaN
        raise CommandError(f"{what}: values must be within {most:g}, got {list(values)}")

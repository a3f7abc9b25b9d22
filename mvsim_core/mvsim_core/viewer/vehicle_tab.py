# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tab about the selected vehicle: numbers, newest readings, a picture, curves."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.viewer.camera_views import picture_of
from mvsim_core.viewer.readings import body_text, sensors_text, vehicle_text

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

NO_PICTURE = "(none)"
CAMERAS = ("camera", "rgbd_camera", "stereo_camera")
#: Simulated time between two points of the curves, and number of points: 30 s.
SPACING = 0.05
MOST = 600
COLORS = ("#2860aa", "#d0542a", "#3a9a4a", "#8a4fb0", "#b08a20", "#208a9a", "#a02060", "#606060")

#: What can be drawn over time: legend and values.
Curve = tuple[tuple[str, ...], Callable[[Any], list[float]]]


def _wheels(field: str) -> Callable[[Any], list[float]]:
    return lambda vehicle: [float(getattr(wheel, field)) for wheel in vehicle.wheels]


def curves_of(vehicle: Any) -> dict[str, Curve]:
    """Return what can be drawn of a vehicle, by name."""
    wheels = tuple(f"wheel {k + 1}" for k in range(len(vehicle.wheels)))
    return {
        "Speed m/s": (
            ("vx", "target", "odometry"),
            lambda v: [v.twist.vx, v.target.vx, v.odometry.twist.vx],
        ),
        "Turn rate rad/s": (
            ("wz", "target", "odometry"),
            lambda v: [v.twist.wz, v.target.wz, v.odometry.twist.wz],
        ),
        "Position m": (("x", "y"), lambda v: [v.pose.x, v.pose.y]),
        "Yaw rad": (("yaw",), lambda v: [v.pose.yaw]),
        "Wheel spin rad/s": (wheels, _wheels("omega")),
        "Wheel torque N m": (wheels, _wheels("torque")),
        "Wheel force forward N": (wheels, _wheels("fx")),
        "Wheel force sideways N": (wheels, _wheels("fy")),
        "Steering rad": (wheels, _wheels("steering")),
    }


class VehicleTab:
    """Numbers of the selected entity, and curves of the selected vehicle."""

    def __init__(self, viewer: Viewer, tab: Any) -> None:
        """Make the widgets; `tab` is their container, in whose context this is called."""
        self._viewer = viewer
        self._tab = tab
        gui = viewer.server.gui
        self._text = gui.add_markdown("")
        self._readings = gui.add_markdown("")
        self._camera = gui.add_dropdown("Picture", [NO_PICTURE])
        self._image: Any = None
        self._drawn: Any = None
        self._quantity = gui.add_dropdown("Curve", ["Speed m/s"])
        self._quantity.on_update(self._on_quantity)
        self._samples: deque[tuple[float, ...]] = deque(maxlen=MOST)
        self._new = False
        self._plot: Any = None
        self._legend: tuple[str, ...] = ()
        self.selection_changed()

    # ------------------------------------------------------------ each picture
    def sample(self) -> None:
        """Add a point to the curves, if it is time."""
        world = self._viewer.world
        vehicle = world.vehicles.get(self._viewer.stage.selected)
        if vehicle is None:
            return
        curve = curves_of(vehicle).get(self._quantity.value)
        if curve is None:
            return
        legend, values = curve
        if (vehicle.name, *legend) != self._legend:
            self._legend = (vehicle.name, *legend)
            self._samples.clear()
        if self._samples and world.time < self._samples[-1][0]:
            self._samples.clear()
        if not self._samples or world.time >= self._samples[-1][0] + SPACING:
            self._samples.append((world.time, *values(vehicle)))
            self._new = True

    def update(self) -> None:
        """Show numbers, readings, picture and curves."""
        world, name = self._viewer.world, self._viewer.stage.selected
        vehicle = world.vehicles.get(name)
        text, readings = "Nothing is selected.", ""
        if vehicle is not None:
            text, readings = vehicle_text(vehicle), sensors_text(vehicle.sensors)
        elif name in world.data.entities:
            kind = world.entity(name).kind
            handles: Any = world.actors if kind == "actor" else world.blocks
            text = body_text(handles[name], kind)
        for widget, content in ((self._text, text), (self._readings, readings)):
            if widget.content != content:
                widget.content = content
        self._update_picture(vehicle)
        self._update_plot()

    def selection_changed(self) -> None:
        """Offer what the newly selected vehicle has."""
        vehicle = self._viewer.world.vehicles.get(self._viewer.stage.selected)
        cameras, curves = [NO_PICTURE], ["Speed m/s"]
        if vehicle is not None:
            cameras += [n for n, s in vehicle.sensors.items() if s.kind in CAMERAS]
            curves = list(curves_of(vehicle))
        for widget, options in ((self._camera, cameras), (self._quantity, curves)):
            if list(widget.options) != options:
                widget.options = options
        if len(cameras) > 1 and self._camera.value == NO_PICTURE:
            self._camera.value = cameras[1]
        self._samples.clear()
        self._want(vehicle)

    def _want(self, vehicle: Any) -> None:
        """Ask for the readings that are shown here."""
        wanted = set()
        if vehicle is not None:
            for name, sensor in vehicle.sensors.items():
                if sensor.kind not in CAMERAS or name == self._camera.value:
                    wanted.add(sensor.full_name)
        self._viewer.stage.sensors.also = frozenset(wanted)

    def _update_picture(self, vehicle: Any) -> None:
        self._want(vehicle)
        sensor = None if vehicle is None else vehicle.sensors.get(self._camera.value)
        reading = None if sensor is None else sensor.last
        picture = None if reading is None else picture_of(reading)
        if picture is None:
            if self._image is not None:
                self._image.visible = False
            return
        if reading is self._drawn:
            return
        self._drawn = reading
        if self._image is None:
            with self._tab:
                self._image = self._viewer.server.gui.add_image(
                    picture, format="jpeg", order=self._camera.order + 1e-3
                )
        else:
            self._image.image = picture
            self._image.visible = True

    # ------------------------------------------------------------ curves
    def _on_quantity(self, event: Any) -> None:
        self._viewer.submit(self._samples.clear)

    def _update_plot(self) -> None:
        if len(self._samples) < 2 or not self._new:
            return
        self._new = False
        columns = np.array(self._samples, np.float64).T
        data = tuple(np.ascontiguousarray(column) for column in columns)
        series = tuple(
            {}
            if k == 0
            else {"label": label, "stroke": COLORS[(k - 1) % len(COLORS)], "width": 1.5}
            for k, label in enumerate(("t", *self._legend[1:]))
        )
        if self._plot is not None and len(self._plot.data) != len(data):
            self._plot.remove()
            self._plot = None
        if self._plot is None:
            with self._tab:
                self._plot = self._viewer.server.gui.add_uplot(
                    data,
                    series,
                    scales={"x": {"time": False, "auto": True}, "y": {"auto": True}},
                    legend={"live": False},
                    aspect=1.6,
                    order=self._quantity.order + 1e-3,
                )
            return
        if self._plot.series != series:
            self._plot.series = series
        self._plot.data = data

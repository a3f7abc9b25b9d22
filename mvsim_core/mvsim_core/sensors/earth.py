# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where on earth the world lies: from world coordinates to WGS84, and which way is east.

A world is a tangent plane at its origin (EPSG 9837, topocentric coordinates: exact, with the
curvature of the earth), turned against east by `world_to_enu_rotation`; or its coordinates are UTM
coordinates, with heights above the ellipsoid.
"""

from __future__ import annotations

import importlib
import math

from mvsim_core.specs.world import GeoreferenceSpec


class Earth:
    """The georeference of a world.

    Attributes:
        yaw: What makes a yaw in the world one from true east [rad]. In UTM worlds it is the
            convergence of the meridians at the reference point.
    """

    def __init__(self, spec: GeoreferenceSpec) -> None:
        """Take a georeference that gives latitude or longitude.

        Raises:
            ValueError: It gives neither.
        """
        if spec.origin is None:
            raise ValueError("the georeference gives neither latitude nor longitude")
        latitude, longitude = spec.origin
        self.spec = spec
        pyproj = importlib.import_module("pyproj")  # 0.1 s that most worlds do not need
        cart = "+step +inv +proj=cart +ellps=WGS84"
        if spec.world_is_utm:
            zone = _utm_zone(longitude)
            south = " +south" if latitude < 0.0 else ""
            utm = f"+proj=utm +zone={zone}{south} +ellps=WGS84"
            steps = f"+step +inv {utm}"
            factors = pyproj.Proj(utm).get_factors(longitude, latitude)
            # grid north lies east of true north by the convergence
            self.yaw = -math.radians(factors.meridian_convergence)
        else:
            place = f"+lat_0={latitude} +lon_0={longitude} +h_0={spec.height}"
            steps = f"+step +inv +proj=topocentric +ellps=WGS84 {place} {cart}"
            self.yaw = spec.world_to_enu_rotation
        self._transform = pyproj.Transformer.from_pipeline(f"+proj=pipeline {steps}").transform
        self._turn = (math.cos(self.yaw), math.sin(self.yaw))

    def to_geodetic(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Return latitude, longitude [deg] and height above the ellipsoid [m] of a world point."""
        if not self.spec.world_is_utm:
            c, s = self._turn
            x, y = c * x - s * y, s * x + c * y
        longitude, latitude, height = self._transform(x, y, z)
        return float(latitude), float(longitude), float(height)


def earth_of(spec: GeoreferenceSpec) -> Earth | None:
    """Return where a world lies; None where its file does not say it."""
    return None if spec.origin is None else Earth(spec)


def _utm_zone(longitude: float) -> int:
    return int((longitude + 180.0) % 360.0 // 6.0) + 1

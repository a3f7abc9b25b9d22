# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ROS 2 topics of a world: names, types, QoS and help, each defined once.

The node publishes them, recordings hold them, and the table in docs/ros2_interface.md is made
from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

#: History depths that hold at least one second, for reliable subscribers that are delayed: of
#: topics with a message each tick, at publish_rate (default 50 Hz), and of 2D lidars.
CLOCK_DEPTH, FAST_DEPTH, SCAN_DEPTH = 1000, 100, 40


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic, or one for each vehicle or sensor.

    Attributes:
        name: Relative to the namespace of the vehicle, or absolute; with placeholders {…}.
        type_name: `package/msg/Name`.
        depth: History depth; all topics are reliable, which matches every subscriber.
        help: Content and rate.
        latched: Whether late subscribers get the last message (transient local).
        frame: header.frame_id, and child_frame_id after an arrow; empty: none.
        mvsim_name: Name in the C++ MVSim, where it differs.
        common_name: Additional name for the only sensor of its class on its vehicle.
        per_vehicle: Whether each vehicle has one.
    """

    name: str
    type_name: str
    depth: int
    help: str
    latched: bool = False
    frame: str = ""
    mvsim_name: str = ""
    common_name: str = ""
    per_vehicle: bool = True


def _image(
    name: str, text: str, *, frame: str = "{sensor}_optical_frame", mvsim_name: str = ""
) -> Topic:
    """Return a topic of pictures."""
    return Topic(name, "sensor_msgs/msg/Image", 5, text, frame=frame, mvsim_name=mvsim_name)


def _intrinsics(
    name: str, text: str, *, frame: str = "{sensor}_optical_frame", mvsim_name: str = ""
) -> Topic:
    """Return a topic of intrinsics."""
    return Topic(name, "sensor_msgs/msg/CameraInfo", 5, text, frame=frame, mvsim_name=mvsim_name)


def _compressed(image: Topic, kind: str) -> Topic:
    """Return the topic on which image_transport's plug-in `compressed` looks for an image."""
    name, mvsim_name = (each and f"{each}/compressed" for each in (image.name, image.mvsim_name))
    about, type_name = f"The same, {kind}.", "sensor_msgs/msg/CompressedImage"
    return replace(image, name=name, mvsim_name=mvsim_name, type_name=type_name, help=about)


CMD_VEL = Topic(
    "cmd_vel",
    "geometry_msgs/msg/Twist",
    10,
    "Velocity in the vehicle frame; see enable_stamped_cmd_vel.",
)
CMD_VEL_STAMPED = Topic(
    "cmd_vel", "geometry_msgs/msg/TwistStamped", 10, "The same with a header, which is ignored."
)
ACKERMANN_CMD = Topic(
    "ackermann_cmd",
    "ackermann_msgs/msg/AckermannDriveStamped",
    10,
    "Speed and steering angle; only for vehicles that steer.",
)
ACKERMANN_CMD_UNSTAMPED = Topic(
    "ackermann_cmd_unstamped",
    "ackermann_msgs/msg/AckermannDrive",
    10,
    "The same without a header.",
)
TORQUE_CMD = Topic(
    "torque_cmd",
    "std_msgs/msg/Float64MultiArray",
    10,
    "Torques of the wheels, then the steering angle; only for the controller raw.",
)
APPLY_FORCE = Topic(
    "apply_force",
    "geometry_msgs/msg/Wrench",
    10,
    "Force and torque that push the vehicle at its centre of mass, world frame.",
)

CLOCK = Topic(
    "/clock",
    "rosgraph_msgs/msg/Clock",
    CLOCK_DEPTH,
    "Simulated time, published first in each tick.",
    per_vehicle=False,
)
DIAGNOSTICS = Topic(
    "/diagnostics",
    "diagnostic_msgs/msg/DiagnosticArray",
    10,
    "Real-time factor, step time; once a second of wall time.",
    per_vehicle=False,
)
MAP = Topic(
    "map",
    "nav_msgs/msg/OccupancyGrid",
    1,
    "First occupancy grid of the world; once. See publish_map.",
    latched=True,
    frame="map",
    mvsim_name="simul_map",
    per_vehicle=False,
)
MAP_METADATA = Topic(
    "map_metadata",
    "nav_msgs/msg/MapMetaData",
    1,
    "Size, resolution and origin of the map; once.",
    latched=True,
    mvsim_name="simul_map_metadata",
    per_vehicle=False,
)
TF = Topic(
    "tf",
    "tf2_msgs/msg/TFMessage",
    100,
    "map → odom → base_footprint → base_link; publish_rate, and before scans of the same tick."
    " Wheels too while robot_description has subscribers.",
)
TF_STATIC = Topic(
    "tf_static", "tf2_msgs/msg/TFMessage", 1, "base_link → sensors; once.", latched=True
)
ODOM = Topic(
    "odom",
    "nav_msgs/msg/Odometry",
    FAST_DEPTH,
    "Wheel odometry, from zero or the initial pose (odom_starts_at); publish_rate.",
    frame="odom → base_footprint",
)
GROUND_TRUTH = Topic(
    "ground_truth/odom",
    "nav_msgs/msg/Odometry",
    FAST_DEPTH,
    "True pose and velocity; publish_rate.",
    frame="map → base_link",
    mvsim_name="base_pose_ground_truth",
)
COLLISION = Topic(
    "collision",
    "std_msgs/msg/Bool",
    FAST_DEPTH,
    "Whether it has been in contact since the last message; publish_rate.",
)
MARKERS = Topic(
    "chassis_markers",
    "visualization_msgs/msg/MarkerArray",
    1,
    "Chassis and wheels for RViz; after changes of steering angles, at most 10 Hz.",
    latched=True,
    frame="base_link",
)
CHASSIS_POLYGON = Topic(
    "chassis_polygon",
    "geometry_msgs/msg/Polygon",
    1,
    "Vertices of the chassis in base_link [m]; once.",
    latched=True,
)
JOINT_STATES = Topic(
    "joint_states",
    "sensor_msgs/msg/JointState",
    FAST_DEPTH,
    "Angles, speeds and torques of the wheels, and steering angles; publish_rate.",
)
WHEEL_STATES = Topic(
    "wheel_states",
    "mvsim_msgs/msg/WheelStates",
    FAST_DEPTH,
    "Ground forces, loads and motor torques of the wheels; publish_rate.",
    frame="base_link",
)
ROBOT_DESCRIPTION = Topic(
    "robot_description",
    "std_msgs/msg/String",
    1,
    "URDF of the vehicle; at the start, and again for each new subscriber.",
    latched=True,
)
INITIAL_POSE = Topic(
    "initialpose",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    1,
    "True pose, once for each new subscriber; only with publish_initialpose.",
    frame="map",
)
AMCL_POSE = Topic(
    "amcl_pose",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    1,
    "True pose in place of that of AMCL; publish_rate, only with do_fake_localization.",
    latched=True,
    frame="map",
)
PARTICLE_CLOUD = Topic(
    "particlecloud",
    "geometry_msgs/msg/PoseArray",
    1,
    "The same pose as the only particle; publish_rate, only with do_fake_localization.",
    frame="map",
)
CONTACTS = Topic(
    "contacts",
    "mvsim_msgs/msg/Contacts",
    FAST_DEPTH,
    "All contacts in the world; publish_rate.",
    frame="map",
    per_vehicle=False,
)
SCAN = Topic(
    "{sensor}",
    "sensor_msgs/msg/LaserScan",
    SCAN_DEPTH,
    "2D lidar, on its name in the world file; also on scan_topic if it is the only one.",
    frame="{sensor}",
)

POINTS = Topic(
    "{sensor}/points",
    "sensor_msgs/msg/PointCloud2",
    5,
    "3D lidar: x y z intensity ring, time if points differ in it, or by <cloud_layout>; also on"
    " points if the only one.",
    frame="{sensor}",
    mvsim_name="{sensor}_points",
    common_name="points",
)
IMU = Topic(
    "{sensor}",
    "sensor_msgs/msg/Imu",
    CLOCK_DEPTH,
    "IMU, as in REP-145; also on imu/data if it is the only one.",
    frame="{sensor}",
    common_name="imu/data",
)
FIX = Topic(
    "{sensor}",
    "sensor_msgs/msg/NavSatFix",
    5,
    "GNSS receiver; also on gps/fix if it is the only one.",
    frame="{sensor}",
    common_name="gps/fix",
)
FIX_VELOCITY = Topic(
    "{sensor}/fix_velocity",
    "geometry_msgs/msg/TwistWithCovarianceStamped",
    5,
    "GNSS receiver: velocity to the east, north and up; also on gps/fix_velocity.",
    frame="{sensor}",
    common_name="gps/fix_velocity",
)
ENCODERS = Topic(
    "{sensor}",
    "sensor_msgs/msg/JointState",
    FAST_DEPTH,
    "Wheel encoders: position and velocity, no effort.",
)
RANGE = Topic(
    "{sensor}",
    "sensor_msgs/msg/Range",
    SCAN_DEPTH,
    "Range sensor: sonar, infrared or cliff; +inf and -inf as in REP-117.",
    frame="{sensor}",
)
MAGNETIC_FIELD = Topic(
    "{sensor}",
    "sensor_msgs/msg/MagneticField",
    FAST_DEPTH,
    "Magnetometer: T; also on imu/mag if it is the only one.",
    frame="{sensor}",
    common_name="imu/mag",
)
BUMPER_SECTOR = Topic(
    "{sensor}/{sector}",
    "std_msgs/msg/Bool",
    FAST_DEPTH,
    "Bumper, a topic for each sector: whether it was touched since the last message.",
)
IMAGE = _image("{sensor}/image_raw", "Colour camera: rgb8.")
IMAGE_COMPRESSED = _compressed(IMAGE, "JPEG")
CAMERA_INFO = _intrinsics(
    "{sensor}/camera_info", "Intrinsics and distortion of the image with the same stamp."
)
CLASS_IMAGE = _image(
    "{sensor}/segmentation/image_raw",
    "Class of each pixel: mono8, 0 for nothing; only with <segmentation>.",
)
INSTANCE_IMAGE = _image(
    "{sensor}/instances/image_raw",
    "Object that each pixel shows: 16UC1, 0 for nothing; only with <segmentation>.",
)
LABELS = Topic(
    "{sensor}/labels",
    "std_msgs/msg/String",
    1,
    "JSON: numbers and names of the classes and instances; when they change.",
    latched=True,
)
LEFT_IMAGE = _image(
    "{sensor}/left/image_raw",
    "Left image of a stereo pair: rgb8; rectified, if its lenses have no distortion.",
)
LEFT_IMAGE_COMPRESSED = _compressed(LEFT_IMAGE, "JPEG")
LEFT_INFO = _intrinsics("{sensor}/left/camera_info", "Intrinsics of the left image.")
RIGHT_IMAGE = _image("{sensor}/right/image_raw", "Right image, with the same stamp.")
RIGHT_IMAGE_COMPRESSED = _compressed(RIGHT_IMAGE, "JPEG")
RIGHT_INFO = _intrinsics(
    "{sensor}/right/camera_info", "Intrinsics of the right image: P[3] is -fx times the baseline."
)
RGB_IMAGE = _image(
    "{sensor}/image_raw",
    "Colour image of a depth camera: rgb8.",
    frame="{sensor}_rgb_optical_frame",
    mvsim_name="{sensor}_rgb/image_raw",
)
RGB_IMAGE_COMPRESSED = _compressed(RGB_IMAGE, "JPEG")
RGB_INFO = _intrinsics(
    "{sensor}/camera_info",
    "Intrinsics of the colour image.",
    frame="{sensor}_rgb_optical_frame",
    mvsim_name="{sensor}_rgb/camera_info",
)
RAW_DEPTH = _image(
    "{sensor}/depth/image_raw",
    "Depth image: 16UC1, millimetres, 0 without a hit (REP-118).",
    mvsim_name="{sensor}_depth/image_raw",
)
RAW_DEPTH_COMPRESSED = _compressed(RAW_DEPTH, "PNG of 16 bits")
DEPTH = _image("{sensor}/depth/image", "Depth image: 32FC1, metres, NaN without a hit.")
DEPTH_INFO = _intrinsics(
    "{sensor}/depth/camera_info",
    "Intrinsics of the depth images.",
    mvsim_name="{sensor}_depth/camera_info",
)
DEPTH_POINTS = Topic(
    "{sensor}/points",
    "sensor_msgs/msg/PointCloud2",
    5,
    "Depth camera: x y z rgb, ordered as the image, NaN without a hit.",
    frame="{sensor}_optical_frame",
    mvsim_name="{sensor}_points",
)
LOG = Topic(
    "log/{table}/{column}",
    "std_msgs/msg/Float64",
    CLOCK_DEPTH,
    "Columns of the log tables pose, wheel_1, wheel_2, …; each step, with publish_log_topics.",
)
INPUTS = (
    CMD_VEL,
    CMD_VEL_STAMPED,
    ACKERMANN_CMD,
    ACKERMANN_CMD_UNSTAMPED,
    TORQUE_CMD,
    APPLY_FORCE,
)
OUTPUTS = (
    CLOCK,
    TF,
    TF_STATIC,
    ODOM,
    GROUND_TRUTH,
    COLLISION,
    MARKERS,
    CHASSIS_POLYGON,
    JOINT_STATES,
    WHEEL_STATES,
    ROBOT_DESCRIPTION,
    INITIAL_POSE,
    AMCL_POSE,
    PARTICLE_CLOUD,
    SCAN,
    POINTS,
    IMU,
    FIX,
    FIX_VELOCITY,
    ENCODERS,
    RANGE,
    MAGNETIC_FIELD,
    BUMPER_SECTOR,
    IMAGE,
    IMAGE_COMPRESSED,
    CAMERA_INFO,
    CLASS_IMAGE,
    INSTANCE_IMAGE,
    LABELS,
    LEFT_IMAGE,
    LEFT_IMAGE_COMPRESSED,
    LEFT_INFO,
    RIGHT_IMAGE,
    RIGHT_IMAGE_COMPRESSED,
    RIGHT_INFO,
    RGB_IMAGE,
    RGB_IMAGE_COMPRESSED,
    RGB_INFO,
    RAW_DEPTH,
    RAW_DEPTH_COMPRESSED,
    DEPTH,
    DEPTH_INFO,
    DEPTH_POINTS,
    LOG,
    CONTACTS,
    MAP,
    MAP_METADATA,
    DIAGNOSTICS,
)
#: Topic names of vehicles and the world, which sensor topics cannot have.
RESERVED_TOPICS = frozenset(
    name
    for topic in (*INPUTS, *OUTPUTS)
    for name in (topic.name.lstrip("/"), topic.mvsim_name)
    if name and "{" not in name
)

# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates launch files without starting processes."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch_ros.actions import LoadComposableNodes, Node
from launch_ros.parameter_descriptions import Parameter
from launch_ros.utilities import evaluate_parameters

from launch import LaunchContext


@dataclass(frozen=True)
class Started:
    """A node that would be started.

    Attributes:
        executable: Its name.
        namespace: Without slash at the begin.
        remappings: From and to.
        parameters: Values by name, of all but files.
        files: Parameter files.
        environment: All of it.
    """

    executable: str
    namespace: str
    remappings: tuple[tuple[str, str], ...]
    parameters: dict[str, Any]
    files: tuple[Path, ...]
    environment: dict[str, str]


@dataclass
class Visit:
    """A launch file that was read with some arguments."""

    context: LaunchContext = field(default_factory=LaunchContext)
    entities: list[Any] = field(default_factory=list)
    nodes: list[Started] = field(default_factory=list)

    @property
    def values(self) -> dict[str, str]:
        """All arguments and other launch configurations in the end."""
        return dict(self.context.launch_configurations)

    @property
    def executables(self) -> list[str]:
        """What would be started."""
        return [node.executable for node in self.nodes]

    @property
    def reports(self) -> str:
        """Texts of its LogInfo actions."""
        texts = [action.msg for action in self.entities if isinstance(action, LogInfo)]
        return " ".join(perform_substitutions(self.context, text) for text in texts)

    def declared(self) -> dict[str, DeclareLaunchArgument]:
        """Return the arguments, the outermost declaration of each."""
        found = [e for e in self.entities if isinstance(e, DeclareLaunchArgument)]
        return {argument.name: argument for argument in reversed(found)}

    def visit(self, entity: Any) -> None:
        """Do what an entity does, except starting a node."""
        self.entities.append(entity)
        if isinstance(entity, Node):
            if entity.condition is None or entity.condition.evaluate(self.context):
                self.nodes.append(self._started(entity))
            return
        if isinstance(entity, LoadComposableNodes):
            return  # it would look for their container
        for child in entity.visit(self.context) or []:
            self.visit(child)

    def _started(self, node: Any) -> Started:
        node._perform_substitutions(self.context)
        parameters: dict[str, Any] = {}
        files = []
        for one in evaluate_parameters(self.context, node._Node__parameters):
            if isinstance(one, Parameter):
                parameters.update([one.evaluate(self.context)])
            elif isinstance(one, dict):
                parameters.update(one)
            else:
                files.append(Path(one))
        namespace = str(node.expanded_node_namespace)
        return Started(
            perform_substitutions(
                self.context, normalize_to_list_of_substitutions(node.node_executable)
            ),
            "" if namespace == Node.UNSPECIFIED_NODE_NAMESPACE else namespace.strip("/"),
            tuple(node.expanded_remapping_rules or ()),
            parameters,
            tuple(files),
            dict(self.context.environment),
        )


def visit_launch(file: Path, kind: Any = Visit, **arguments: str) -> Any:
    """Return what a launch file does with arguments from the command line: a kind of `Visit`."""
    visit = kind()
    source = AnyLaunchDescriptionSource(str(file))
    visit.visit(IncludeLaunchDescription(source, launch_arguments=arguments.items()))
    return visit

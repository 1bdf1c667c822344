"""An explanation as a document for programs.

Owns: its shape.  Must not know how it is found out, nor how it is printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from reflet.cli.commands.env import assignment_document
from reflet.cli.output.problem_output import problem_document, surroundings_documents

if TYPE_CHECKING:
    from reflet.cli.pod_gathering import PodInHand
    from reflet.insight.explain import (
        ExplainedContainer,
        ExplainedFile,
        ExplainedPod,
        ExplainedVariable,
        ExplainedVolume,
    )

API_VERSION: Final = "reflet.dev/v1alpha1"


def explained_document(hand: PodInHand, result: ExplainedPod, *, reveal: bool) -> dict[str, Any]:
    """Return everything that the tree shows."""
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "namespace": hand.pod.metadata.namespace,
        "pod": hand.pod.metadata.name or None,
        "containers": [_container(each, reveal=reveal) for each in result.containers],
        "volumes": [_volume(each) for each in result.volumes],
        "problems": surroundings_documents(hand),
    }
    if hand.from_template:
        document["workload"] = {"kind": hand.kind, "name": hand.name}
    return document


def _container(container: ExplainedContainer, *, reveal: bool) -> dict[str, Any]:
    environment = container.environment
    return {
        "container": environment.container,
        "variables": [_variable(each, reveal=reveal) for each in container.variables],
        "error": environment.error,
        "problems": [problem_document(problem) for problem in environment.problems],
    }


def _variable(explained: ExplainedVariable, *, reveal: bool) -> dict[str, Any]:
    variable = explained.variable
    return {
        "name": variable.name,
        **assignment_document(variable.assignment, reveal=reveal),
        "shadows": [assignment_document(each, reveal=reveal) for each in variable.shadows],
        "expansions": [
            {"name": expansion.name, "found": False}
            if expansion.assignment is None
            else {
                "name": expansion.name,
                "found": True,
                **assignment_document(expansion.assignment, reveal=reveal),
            }
            for expansion in explained.expansions
        ],
        "follows": explained.follows.value,
        "immutable": explained.immutable,
    }


def _volume(volume: ExplainedVolume) -> dict[str, Any]:
    contents = volume.contents
    return {
        "volume": contents.volume,
        "files": [_file(each) for each in volume.files],
        "error": contents.error,
        "problems": [problem_document(problem) for problem in contents.problems],
    }


def _file(explained: ExplainedFile) -> dict[str, Any]:
    file = explained.file
    return {
        "path": explained.path,
        "mode": f"{file.mode:04o}",
        "size": len(file.data) if file.known else None,
        "source": msgspec.to_builtins(file.origin),
        "shadows": [msgspec.to_builtins(origin) for origin in file.shadows],
        "seenBy": [
            {
                "container": sight.container,
                "path": sight.path,
                "follows": sight.follows.value,
                "subPath": sight.sub_path or None,
            }
            for sight in explained.sights
        ],
        "immutable": explained.immutable,
    }

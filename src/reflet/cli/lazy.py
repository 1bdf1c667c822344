"""Modules that a command needs once it runs, and that its ``--help`` need not wait for.

``lazy.cluster`` is the module ``reflet.cluster``, imported when it is first used.  Commands take
from here whatever is slow to import: ``reflet --help`` imports none of it and answers in a tenth
of a second, where everything together takes most of one.  Type checkers and editors read the
imports below; at run time only the table counts, and a test compares the two.
"""

# What is imported here is for others to use.
# mypy: implicit-reexport
# ruff: noqa: F401

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio
    import difflib
    import json

    import msgspec
    from click import shell_completion

    from reflet import cluster
    from reflet.api import options, resources
    from reflet.api.selectors import labels
    from reflet.api.yaml import text as yaml_text
    from reflet.cli import demo_story, event_loop, machine_checks, stop_signals
    from reflet.cli.options import missing_targets, project_file, tab_words
    from reflet.cli.output import (
        change_output,
        diff_output,
        environment_output,
        explain_output,
        following,
        lint_excerpts,
        lint_exchange,
        lint_output,
        problem_output,
        runtime_output,
        server_objects,
        stale_output,
        stale_watching,
        volume_files,
        why_output,
    )
    from reflet.client import client
    from reflet.controllers import rollout_restarts
    from reflet.cri import cri_client, cri_runtime, endpoints
    from reflet.devserver import server as devserver
    from reflet.devserver.verbs import loading
    from reflet.gotext import durations, times
    from reflet.informer.reflector import reflector
    from reflet.insight import (
        custom_structs,
        explain,
        pod_diff,
        rbac,
        reference_table,
        sidecars,
        struct_source,
        unused,
        used_by,
    )
    from reflet.insight.lint import assumptions, baselines, fingerprints, linting, suppressions
    from reflet.insight.lint import rules as lint_rules
    from reflet.insight.stale import held_values, stale_workloads
    from reflet.insight.why import diagnosis
    from reflet.manifests import applying, git_revisions, manifest_documents
    from reflet.manifests import files as manifest_files
    from reflet.node import agent as node_agent
    from reflet.node import options as node_options
    from reflet.node.pods import admission
    from reflet.node.server import serving_certificates
    from reflet.play import play
    from reflet.pleg import evented, relist, status_cache
    from reflet.podconfig import (
        gather,
        gather_existence,
        gather_files,
        gather_lint,
        gather_objects,
        gather_users,
        gather_why,
        gather_why_files,
        gather_why_targets,
    )
    from reflet.podconfig.many_pods import gather_diff, gather_staleness, gather_unused
    from reflet.processes import isolation_check, process_table, program
    from reflet.resolution import places, pod_inputs
    from reflet.resolution.references import references
    from reflet.resolution.templates import templates
    from reflet.runtime import descriptors, structured_logs
    from reflet.sidecar import log_lines, running_sidecar, sidecar_settings
    from reflet.supervisor import (
        configuration_changes,
        configuration_sources,
        container_configuration,
        run_options,
        running,
        service_forwards,
        supervisor,
    )
    from reflet.transport.config import kubeconfig
    from reflet.ui import board, cluster_board, file_board, page, report
    from reflet.volumes import mounts

_HOMES: Final = {
    name: f"{package}.{name}"
    for package, names in {
        "click": "shell_completion",
        "reflet": "cluster",
        "reflet.api": "options resources",
        "reflet.api.selectors": "labels",
        "reflet.cli": "demo_story event_loop machine_checks stop_signals",
        "reflet.cli.options": "missing_targets project_file tab_words",
        "reflet.cli.output": (
            "change_output diff_output environment_output explain_output following lint_excerpts "
            "lint_exchange lint_output problem_output runtime_output server_objects stale_output "
            "stale_watching volume_files why_output"
        ),
        "reflet.client": "client",
        "reflet.controllers": "rollout_restarts",
        "reflet.cri": "cri_client cri_runtime endpoints",
        "reflet.devserver.verbs": "loading",
        "reflet.gotext": "durations times",
        "reflet.informer.reflector": "reflector",
        "reflet.insight": (
            "custom_structs explain pod_diff rbac reference_table sidecars struct_source unused "
            "used_by"
        ),
        "reflet.insight.stale": "held_values stale_workloads",
        "reflet.insight.lint": "assumptions baselines fingerprints linting suppressions",
        "reflet.insight.why": "diagnosis",
        "reflet.manifests": "applying git_revisions manifest_documents",
        "reflet.node.pods": "admission",
        "reflet.node.server": "serving_certificates",
        "reflet.play": "play",
        "reflet.pleg": "evented relist status_cache",
        "reflet.podconfig": (
            "gather gather_existence gather_files gather_lint gather_objects gather_users "
            "gather_why gather_why_files gather_why_targets"
        ),
        "reflet.podconfig.many_pods": "gather_diff gather_staleness gather_unused",
        "reflet.processes": "isolation_check process_table program",
        "reflet.resolution": "places pod_inputs",
        "reflet.resolution.references": "references",
        "reflet.resolution.templates": "templates",
        "reflet.runtime": "descriptors structured_logs",
        "reflet.sidecar": "log_lines running_sidecar sidecar_settings",
        "reflet.supervisor": (
            "configuration_changes configuration_sources container_configuration "
            "run_options running service_forwards supervisor"
        ),
        "reflet.transport.config": "kubeconfig",
        "reflet.volumes": "mounts",
        "reflet.ui": "board cluster_board file_board page report",
    }.items()
    for name in names.split()
} | {
    "asyncio": "asyncio",
    "devserver": "reflet.devserver.server",
    "difflib": "difflib",
    "json": "json",
    "lint_rules": "reflet.insight.lint.rules",
    "manifest_files": "reflet.manifests.files",
    "msgspec": "msgspec",
    "node_agent": "reflet.node.agent",
    "node_options": "reflet.node.options",
    "yaml_text": "reflet.api.yaml.text",
}


if not TYPE_CHECKING:  # a type checker would believe that every name is there

    def __getattr__(name: str) -> ModuleType:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Bound at once, so that the next use costs nothing.
        module = globals()[name] = import_module(_HOMES[name])
        return module

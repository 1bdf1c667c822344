from __future__ import annotations

import pytest

from reflet.errors import ConfigurationError
from reflet.play.pod_scripts import (
    ANNOTATION,
    COMPLETE,
    RUN,
    Outcome,
    ScriptStep,
    parse_script,
    script_of,
)
from tests.unit.play.documents_scene import pod


def test_a_script_has_one_step_for_each_start() -> None:
    steps = parse_script("exit 1, exit 2 after 1m30s, unready, pending, run")

    assert steps == (
        ScriptStep("exit", 1),
        ScriptStep("exit", 2, 90.0),
        *(ScriptStep("unready"), ScriptStep("pending"), ScriptStep("run")),
    )


@pytest.mark.parametrize(
    "text", ["", "run,", "exit", "exit x", "exit 256", "exit 1 after", "exit 1 after soon", "walk"]
)
def test_what_is_no_step_is_named(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no step: expected run"):
        parse_script(text)


def test_an_outcome_with_a_wrong_script_is_refused_when_it_is_made() -> None:
    with pytest.raises(ConfigurationError, match="'stroll' in the script 'run, stroll'"):
        Outcome("crasher:*", "run, stroll")


def test_the_image_decides_before_the_annotation_of_the_pod() -> None:
    told = pod(metadata={"annotations": {ANNOTATION: "unready"}})
    container = told["spec"]["containers"][0]

    assert script_of(told, container, [Outcome("nginx:*", "exit 3")]) == (ScriptStep("exit", 3),)
    assert script_of(told, container, [Outcome("redis:*", "exit 3")]) == (ScriptStep("unready"),)


def test_pods_of_jobs_complete_and_others_run() -> None:
    of_job = pod(metadata={"ownerReferences": [{"kind": "Job"}]})

    assert script_of(of_job, of_job["spec"]["containers"][0], ()) == COMPLETE
    assert script_of(pod(), pod()["spec"]["containers"][0], ()) == RUN


def test_init_containers_complete_and_sidecars_run() -> None:
    init, sidecar = {"image": "a"}, {"image": "b", "restartPolicy": "Always"}
    both = pod(initContainers=[init, sidecar])

    assert script_of(both, init, ()) == COMPLETE
    assert script_of(both, sidecar, ()) == RUN

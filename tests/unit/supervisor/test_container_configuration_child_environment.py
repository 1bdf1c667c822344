"""Who wins when several sources set a variable."""

from __future__ import annotations

from reflet.supervisor.container_configuration import (
    RUNTIME_PATH,
    EnvironmentOptions,
    child_environment,
)

LOCAL = {"PATH": "/local/bin", "HOME": "/home/me", "AWS_REGION": "eu", "AWS_PROFILE": "me"}
NOTHING = EnvironmentOptions()


def test_the_pods_variables_and_a_path_are_all_there_is() -> None:
    assert child_environment({"A": "1"}, LOCAL, NOTHING, root="/r") == {
        "A": "1",
        "PATH": "/local/bin",
        "REFLET_ROOT": "/r",
    }


def test_without_a_local_path_it_is_that_of_container_runtimes() -> None:
    assert child_environment({}, {}, NOTHING, root="/r")["PATH"] == RUNTIME_PATH


def test_the_pod_wins_over_what_is_inherited_and_loses_against_what_is_set() -> None:
    options = EnvironmentOptions(inherit=["AWS_*", "PATH"], settings={"AWS_PROFILE": "mine"})

    made = child_environment({"AWS_REGION": "us", "PATH": "/pod/bin"}, LOCAL, options, root="/r")

    assert made == {
        "AWS_REGION": "us",
        "AWS_PROFILE": "mine",
        "PATH": "/pod/bin",
        "REFLET_ROOT": "/r",
    }


def test_what_is_unset_is_unset_whoever_set_it() -> None:
    options = EnvironmentOptions(settings={"B": "2"}, unset=["A", "B", "PATH", "REFLET_ROOT", "X"])

    assert child_environment({"A": "1", "C": "3"}, LOCAL, options, root="/r") == {"C": "3"}


def test_values_that_were_set_are_not_shown() -> None:
    assert "hunter2" not in repr(EnvironmentOptions(settings={"PASSWORD": "hunter2"}))

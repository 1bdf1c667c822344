"""Which streams a sidecar follows, in which order, and with which rights."""

import pytest

from reflet.sidecar.selected_objects import SelectedObjects, identity, selected, verbs_needed
from reflet.sidecar.sidecar_settings import BadSettings, SidecarSettings, read_settings


def settings(**variables: str) -> SidecarSettings:
    return read_settings({"LABEL": "findme", "FOLDER": "/out", **variables})


def streams(**variables: str) -> list[str]:
    return [str(each) for each in selected(settings(**variables), "own")]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, ["configmaps in own"]),
        ({"RESOURCE": "secret"}, ["secrets in own"]),
        (
            {"RESOURCE": "both", "NAMESPACE": "b,a"},
            ["secrets in b", "secrets in a", "configmaps in b", "configmaps in a"],
        ),
        (
            {"RESOURCE": "both", "NAMESPACE": "ALL"},
            ["secrets in all namespaces", "configmaps in all namespaces"],
        ),
        ({"RESOURCE_NAME": "x,y"}, ["configmap x in own", "configmap y in own"]),
        ({"RESOURCE_NAME": "x", "NAMESPACE": "ALL"}, ["configmaps in all namespaces"]),
    ],
)
def test_streams_are_kinds_times_namespaces_or_names(
    variables: dict[str, str], expected: list[str]
) -> None:
    assert streams(**variables) == expected


def test_a_kind_in_a_name_counts_with_and_without_a_namespace() -> None:
    found = streams(
        RESOURCE="both", RESOURCE_NAME="configmap/a,secret/b,own/configmap/c,n/secret/d"
    )

    assert found == ["secret b in own", "configmap a in own", "configmap c in own"]


def test_a_kind_for_which_nothing_is_named_is_not_listed_by_label() -> None:
    assert streams(RESOURCE="both", RESOURCE_NAME="secret/x") == ["secret x in own"]


def test_names_that_select_nothing_are_refused() -> None:
    with pytest.raises(BadSettings, match="RESOURCE_NAME: secret/x is of no kind or namespace"):
        selected(settings(RESOURCE_NAME="secret/x"), "own")


def test_a_name_ignores_the_label() -> None:
    [found] = selected(settings(RESOURCE_NAME="x"), "own")

    assert (found.label_selector, found.field_selector) == ("", "metadata.name=x")


@pytest.mark.parametrize(
    ("variables", "verbs"),
    [
        ({}, ("list", "watch")),
        ({"METHOD": "SLEEP"}, ("list",)),
        ({"METHOD": "LIST"}, ("list",)),
        ({"RESOURCE_NAME": "x"}, ("get", "list", "watch")),
        ({"RESOURCE_NAME": "x", "METHOD": "SLEEP"}, ("get",)),
    ],
)
def test_rights_follow_from_the_method(variables: dict[str, str], verbs: tuple[str, ...]) -> None:
    asked = settings(**variables)

    assert verbs_needed(asked, selected(asked, "own")[0]) == verbs


def test_a_selection_has_an_identity_that_outlives_a_restart() -> None:
    same = [SelectedObjects("secret", "n", "a"), SelectedObjects("configmap", "n", "a")]

    assert identity(same) == "a0791025e76c"  # also that of a later version of this program
    assert identity(same) != identity(same[:1])

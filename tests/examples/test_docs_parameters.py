"""Every parameter of the API reference has a meaning: a type alone does not say what None does."""

from __future__ import annotations

from typing import Final

import pytest

from docs.generators import api_pages, docstrings, parameters, rooms

KUBERNETES: Final = "reflet.api."
"""Where fields are those of Kubernetes' own API: its reference describes them."""

# Values that Reflet returns and nobody has to make, whose fields are not described yet.  The list
# only shrinks: a class that is described, or gone, must be taken out.
NOT_DESCRIBED: Final = """
AmbiguousServiceVariable Assignment ConfigMapOrigin Difference Environment FieldOrigin FileContent
FileOrigin FileProblem Filling InvalidMountPoint InvalidSubPath InvalidVariableName MissingKey
MissingSubPathVariables NotKnownYet ObjectModel ObjectProblem OversizedEnvironment OversizedObject
OversizedValue PossibleUsers Problem QueuedDelta Reference Refused ResourceOrigin
RuntimeContainerStatus RuntimePod RuntimeStatus SecretOrigin SeenRequest ServiceOrigin
ServicesUnreadable SkippedNames Substitution TokenOrigin TokenUnavailable TrustBundleOrigin
TrustBundleUnavailable UnavailableResource Unknown UnreadableObject UnresolvedReference
UnsupportedField UnsupportedSource ValueOrigin Variable VolumeContents ZeroInValue
"""
FIELDS_NOT_DESCRIBED: Final = frozenset(NOT_DESCRIBED.split())


def public(room: str) -> list[rooms.Definition]:
    found = [rooms.definition(name, room) for name in rooms.names_of(room)]
    return [each for each in found if each is not None]


def without_meaning(rows: list[parameters.Row]) -> list[str]:
    return [row.name for row in rows if not row.meaning]


@pytest.mark.parametrize("room", rooms.ROOMS)
def test_every_parameter_of_a_public_name_has_a_meaning(room: str) -> None:
    missing = {
        call: names
        for found in public(room)
        for call, rows in api_pages.parameters_of(found)
        if (names := without_meaning(rows))
    }

    assert missing == {}, "describe each in the docstring: '- *name*: what it means'"


def test_every_field_of_a_public_value_has_a_meaning() -> None:
    missing = {
        found.name: names
        for room in rooms.ROOMS
        for found in public(room)
        if not found.module.startswith(KUBERNETES)
        if (names := without_meaning(api_pages.fields_of(found)))
    }

    assert {name: missing[name] for name in missing.keys() - FIELDS_NOT_DESCRIBED} == {}
    assert FIELDS_NOT_DESCRIBED - missing.keys() == set(), "described or gone: take them out"


def test_a_list_of_parameters_is_a_table_and_not_part_of_the_text() -> None:
    docstring = """Wait.

    - *seconds*: how long,
      at most
    - *first*, *last*: which
    """

    assert docstrings.markdown(docstring) == "Wait."
    assert docstrings.listed(docstring) == {
        "seconds": "How long, at most.",
        "first": "Which.",
        "last": "Which.",
    }


def test_a_method_without_a_meaning_takes_that_of_the_class_it_stands_for() -> None:
    page = api_pages.room("reflet.blocking")
    section = page.partition("\n#### BlockingResource.apply\n")[2].partition("\n#### ")[0]

    assert "| `field_manager` | `str` |  | Who owns the fields from now on" in section

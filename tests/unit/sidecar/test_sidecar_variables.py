"""The table of variables: complete, described, and equal to what settings have."""

import dataclasses

import pytest

from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.sidecar.sidecar_variables import ORIGINAL, VARIABLES, SidecarVariable


def test_the_original_has_41_variables() -> None:
    assert len(ORIGINAL) == 41
    assert set(VARIABLES) > ORIGINAL


def test_every_variable_is_a_setting_and_every_setting_a_variable() -> None:
    fields = {each.name for each in dataclasses.fields(SidecarSettings)} - {"warnings"}

    assert {each.field for each in VARIABLES.values()} == fields


@pytest.mark.parametrize("variable", VARIABLES.values(), ids=VARIABLES)
def test_a_variable_is_explained_in_one_sentence(variable: SidecarVariable) -> None:
    assert variable.about.endswith(".")
    assert variable.about[0].isalpha()


def test_the_two_flags_of_the_original_are_flags() -> None:
    assert VARIABLES["REQ_USERNAME_FILE"].flag == "--req-username-file"
    assert VARIABLES["REQ_PASSWORD_FILE"].flag == "--req-password-file"


def test_a_password_is_no_flag_because_everybody_can_read_command_lines() -> None:
    assert not VARIABLES["REQ_PASSWORD"].on_command_line


@pytest.mark.parametrize(
    ("name", "shown"),
    [("SLEEP_TIME", "60"), ("NAMESPACE", "the pod's own"), ("LABEL", ""), ("LAYOUT", "files")],
)
def test_a_default_is_shown_in_words(name: str, shown: str) -> None:
    assert VARIABLES[name].shown_default == shown

"""What is run: the user's command as it is, or the container's own, expanded."""

from __future__ import annotations

import pytest

from reflet.api.core.containers import Container
from reflet.errors import ConfigurationError
from reflet.supervisor.container_configuration import command_for


def test_what_was_given_is_taken_as_it_is() -> None:
    container = Container(name="web", command=("serve",))

    assert command_for(container, {"A": "1"}, ["echo", "$(A)"]) == ("echo", "$(A)")


def test_the_containers_own_is_expanded_as_the_kubelet_does() -> None:
    container = Container(name="web", command=("serve", "$(A)"), args=("$(B)", "$$(A)"))

    assert command_for(container, {"A": "1"}, ()) == ("serve", "1", "$(B)", "$(A)")


@pytest.mark.parametrize(
    ("container", "words"),
    [
        (Container(name="web"), "container web has no command"),
        (Container(name="web", args=("a",)), "container web gives only arguments"),
    ],
)
def test_what_an_image_runs_is_not_guessed(container: Container, words: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{words}.*give the command after --"):
        command_for(container, {}, ())


def test_a_command_that_no_process_could_be_given_is_refused() -> None:
    container = Container(name="web", command=("serve",), args=("$(A)",) * 100)

    with pytest.raises(ConfigurationError, match=r"^container web: command and args have 60000005"):
        command_for(container, {"A": "secret" * 100_000}, ())

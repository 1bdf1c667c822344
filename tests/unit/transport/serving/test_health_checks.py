from __future__ import annotations

from collections.abc import Mapping

from reflet.transport.serving.health_checks import Health
from reflet.transport.serving.http_answers import Question


def ask(path: str, *, verbose: bool = False, **problems: str) -> tuple[int, str]:
    def many() -> Mapping[str, str | None]:
        return {"worker/shop/web": problems.get("worker")}

    health = Health(
        live={"shim": lambda: problems.get("shim")},
        ready={"pods": lambda: problems.get("pods")},
        many=many,
    )
    parts = tuple(path.strip("/").split("/"))
    answer = health.answer(Question(parts, {"verbose": ""} if verbose else {}, {}))
    assert isinstance(answer.body, bytes)
    return answer.status, answer.body.decode()


def test_all_is_well_in_one_word() -> None:
    assert ask("/livez") == ask("/readyz") == (200, "ok\n")


def test_what_is_wrong_is_named() -> None:
    status, text = ask("/readyz", pods="not read yet")

    assert status == 503
    assert "[-]pods failed: not read yet\n" in text
    assert text.endswith("readyz check failed\n")


def test_an_agent_that_waits_for_the_server_is_alive() -> None:
    assert ask("/livez", pods="not read yet")[0] == 200
    assert ask("/livez", shim="away")[0] == 503


def test_everything_is_listed_when_asked_for() -> None:
    assert ask("/readyz", verbose=True)[1].splitlines() == [
        "[+]shim ok",
        "[+]pods ok",
        "[+]worker/shop/web ok",
        "readyz check passed",
    ]


def test_one_check_can_be_asked_for() -> None:
    assert ask("/readyz/worker/shop/web", worker="stuck")[0] == 503
    assert ask("/readyz/pods", worker="stuck")[0] == 200
    assert ask("/readyz/nothing")[0] == 404


def test_what_the_agent_waits_for_is_not_listed_among_what_it_lives_by() -> None:
    assert ask("/livez", verbose=True) == (200, "[+]shim ok\nlivez check passed\n")


def test_a_failure_lists_what_is_well_too() -> None:
    assert "[+]shim ok\n" in ask("/readyz", worker="stuck")[1]


def test_what_is_only_noted_is_shown_and_decides_nothing() -> None:
    health = Health(live={}, ready={}, noted={"reload": lambda: "not answered"})

    assert health.answer(Question(("readyz",), {}, {})).status == 200
    shown = health.answer(Question(("readyz",), {"verbose": ""}, {}))
    assert shown.body == b"[-]reload failed: not answered\nreadyz check passed\n"
    assert health.answer(Question(("readyz", "reload"), {}, {})).status == 503

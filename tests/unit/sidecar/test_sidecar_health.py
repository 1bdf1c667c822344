"""Health: the original's words, the truth behind them, and pages that say which part."""

from __future__ import annotations

import pytest

from reflet.runtime.metrics import MetricText
from reflet.sidecar.sidecar_health import SidecarFacts, SidecarPages, healthz
from reflet.transport.serving.http_answers import Answer, Question

WELL = SidecarFacts(is_started=True, streams={"secrets": None}, lost={"secrets": None})


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        (WELL, (200, "OK")),
        (SidecarFacts(is_started=False), (503, "NOT READY")),
        (SidecarFacts(is_started=True, streams={"a": None, "b": "forbidden"}), (503, "NOT READY")),
        (SidecarFacts(is_started=True, files="disk full"), (503, "NOT READY")),
        (
            SidecarFacts(is_started=True, lost={"a": None, "b": "away"}),
            (503, "NOT LIVE (K8s contact lost)"),
        ),
        (
            SidecarFacts(is_started=True, tasks={"files": "TypeError"}),
            (503, "NOT LIVE (watcher thread died)"),
        ),
        (SidecarFacts(is_started=True, reload="REQ_URL: refused"), (200, "OK")),
    ],
)
def test_healthz_has_the_originals_words(facts: SidecarFacts, answer: tuple[int, str]) -> None:
    assert healthz(facts) == answer


async def ask(target: str, facts: SidecarFacts = WELL) -> Answer:
    path, _, query = target.partition("?")
    parts = tuple(part for part in path.split("/") if part)
    pages = SidecarPages(lambda: facts, MetricText())
    return await pages.answer(Question(parts, {query: ""} if query else {}, {}, target=target))


@pytest.mark.parametrize("target", ["/healthz?x=1", "/healthz/", "//healthz", "/", "/health"])
async def test_any_other_path_is_not_found(target: str) -> None:
    answer = await ask(target)

    assert (answer.status, answer.body) == (404, b"Not Found")
    assert answer.content_type == "text/plain; charset=utf-8"


async def test_liveness_is_about_ourselves_and_readiness_about_everything() -> None:
    away = SidecarFacts(is_started=True, lost={"secrets": "away"}, tasks={"files": None})

    assert (await ask("/livez", away)).status == 200
    assert (await ask("/readyz", away)).status == 503
    assert (await ask("/livez", SidecarFacts(is_started=True, tasks={"files": "x"}))).status == 503


async def test_readiness_says_what_is_wrong() -> None:
    facts = SidecarFacts(
        is_started=False,
        streams={"secrets in n": "forbidden"},
        files="1 cannot be written: /f: full",
        reload="REQ_URL: connection refused",
    )
    answer = await ask("/readyz?verbose", facts)

    assert answer.body == (
        b"[-]start failed: the first files are not written yet\n"
        b"[-]files failed: 1 cannot be written: /f: full\n"
        b"[-]stream/secrets in n failed: forbidden\n"
        b"[-]reload failed: REQ_URL: connection refused\n"
        b"readyz check failed\n"
    )


async def test_an_application_that_does_not_answer_keeps_nobody_from_being_ready() -> None:
    facts = SidecarFacts(is_started=True, reload="REQ_URL: connection refused")

    assert (await ask("/readyz", facts)).status == 200
    assert (await ask("/readyz/reload", facts)).status == 503


async def test_numbers_are_for_prometheus() -> None:
    metrics = MetricText()
    metrics.gauge("reflet_sidecar_files", 3)
    answer = await SidecarPages(lambda: WELL, metrics).answer(
        Question(("metrics",), {}, {}, target="/metrics")
    )

    assert answer.body == b"# TYPE reflet_sidecar_files gauge\nreflet_sidecar_files 3\n"

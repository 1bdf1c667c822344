"""An API server for the command line: documents by path, tables by path, and nothing else.

Owns: the answers and the thread that gives them.  Must not know any command.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from reflet.blocking.loop_thread import LoopThread
from reflet.cli.main import run
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Request, Http1Server


class ScriptedApi:
    """What is asked for as a table is looked up in *tables*, the rest in *documents*."""

    def __init__(
        self,
        documents: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        tables: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._documents = documents or {}
        self._tables = tables or {}
        self._loop: LoopThread | None = None
        self._server = Http1Server(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def targets(self) -> list[str]:
        """What was asked for, queries included."""
        return [request.target for request in self._server.requests]

    @property
    def requests(self) -> list[Http1Request]:
        return self._server.requests

    @contextmanager
    def serving(self) -> Iterator[ScriptedApi]:
        self._loop = LoopThread("scripted API")
        try:
            with self._loop.entered(self._server):
                yield self
        finally:
            self._loop.stop()

    def wait_for_a_request(self) -> None:
        assert self._loop is not None
        self._loop.run(self._server.until(lambda: self._server.requests))

    async def _answer(self, peer: Http1Peer) -> None:
        while True:
            request = await peer.request()
            wanted = dict(request.headers).get("accept", "")
            known = self._tables if "as=Table" in wanted else self._documents
            path = request.target.partition("?")[0]
            document = known.get(path) or refusal(404, "NotFound", f"{path} not found")
            if document is SILENCE:
                await peer.client_left()
                return
            code = document.get("code", 200)
            peer.answer(json.dumps(document).encode(), status=f"{code} {HTTPStatus(code).phrase}")


SILENCE: Mapping[str, Any] = {"kind": "Silence"}


def refusal(code: int, reason: str, message: str) -> Mapping[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }


def table(
    *rows: tuple[Any, ...], columns: tuple[str, ...] = ("Name", "Data"), wide: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """A table whose last columns, *wide*, are for wide output only."""
    definitions: list[dict[str, Any]] = [{"name": name} for name in columns]
    definitions += [{"name": name, "priority": 1} for name in wide]
    return {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "Table",
        "metadata": {"resourceVersion": "7"},
        "columnDefinitions": definitions,
        "rows": [
            {
                "cells": list(cells),
                "object": {"metadata": {"name": str(cells[0]), "namespace": "shop"}},
            }
            for cells in rows
        ],
    }


def reflet(api: ScriptedApi, *arguments: str) -> int:
    """Run one command against *api*."""
    return run(["reflet", *arguments, "--server", api.url])

"""The server's own paths, by which tests in another process make faults and count requests.

Owns: ``/reflet.dev/faults`` and ``/reflet.dev/requests``.  Must not know how faults strike.

::

    GET    /reflet.dev/faults      the faults that wait, and those that have struck
    POST   /reflet.dev/faults      one fault, or a list of them
    DELETE /reflet.dev/faults      forget those that wait
    GET    /reflet.dev/requests    the requests that came
    DELETE /reflet.dev/requests    forget them
"""

from __future__ import annotations

from dataclasses import asdict
from typing import final

from reflet.apirules import refusals
from reflet.apirules.schema.json_reading import read_json
from reflet.devserver.faults import Fault, Faults, RequestLog
from reflet.devserver.printing.answers import DocumentAnswer
from reflet.devserver.request.documents import Body
from reflet.devserver.request.request import ApiRequest
from reflet.errors import ConfigurationError, DecodeError


@final
class Administration:
    """Answers requests to the server's own paths."""

    def __init__(self, faults: Faults, requests: RequestLog) -> None:
        self._faults = faults
        self._requests = requests

    def answer(self, request: ApiRequest, body: Body) -> DocumentAnswer | None:
        """Answer a request; None when there is no such path."""
        match request.path, request.method:
            case "/reflet.dev/faults", "GET":
                return self._state()
            case "/reflet.dev/faults", "POST":
                self._add(body)
                return self._state()
            case "/reflet.dev/faults", "DELETE":
                self._faults.clear()
                return self._state()
            case "/reflet.dev/requests", "GET":
                return DocumentAnswer({"requests": [asdict(each) for each in self._requests.all()]})
            case "/reflet.dev/requests", "DELETE":
                self._requests.clear()
                return DocumentAnswer({"requests": []})
            case (("/reflet.dev/faults" | "/reflet.dev/requests"), _):
                raise refusals.method_not_allowed()
            case _:
                return None

    def _add(self, body: Body) -> None:
        try:
            document = read_json(body.content)
            faults = document if isinstance(document, list) else [document]
            for fault in [Fault.from_document(each) for each in faults]:
                self._faults.add(fault)
        except (DecodeError, ConfigurationError) as error:
            raise refusals.bad_request(str(error)) from error

    def _state(self) -> DocumentAnswer:
        return DocumentAnswer(
            {
                "waiting": [fault.to_document() for fault in self._faults.waiting],
                "fired": [fault.to_document() for fault in self._faults.fired],
            }
        )

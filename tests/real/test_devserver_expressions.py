"""Rules in the schemas of custom resources judge as the real server's do, with the same words."""

from __future__ import annotations

import copy
import itertools
import json
import re
from typing import Any, Final

import pytest

from tests.patience import Deadline
from tests.real.api_connection import Answer
from tests.real.devserver_side import DevServerSide, Outcome
from tests.real.expression_cases import (
    ABSENT,
    CASES,
    PAIR,
    Case,
    Schema,
    record,
    ruled,
)
from tests.real.kube_server import KubeServer
from tests.real.refused_expressions import MALFORMED, REFUSED

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP: Final = "rules.example.com"
PATIENCE: Final = 30.0
NUMBERS: Final = itertools.count()
CASES_IN_A_DEFINITION: Final = 12  # the real server bounds what all rules of one may cost


def definition(number: int, schema: Schema) -> dict[str, Any]:
    plural = f"things{number}"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"plural": plural, "kind": f"Thing{number}"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def thing(number: int, name: str, spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": f"Thing{number}",
        "metadata": {"name": name},
        "spec": spec,
    }


class Batch:
    """Some cases, each a field of one kind, on both servers."""

    def __init__(self, kube: KubeServer, number: int, cases: list[Case]) -> None:
        self._kube = kube
        self._number = number
        self._cases = cases
        self._path = f"/apis/{GROUP}/v1/things{number}"
        self._ours = DevServerSide()

    def prepare(self) -> None:
        """Store the values to be replaced before there are any rules, then add the rules."""
        loose = definition(self._number, {"type": "object", "properties": {"spec": FREE}})
        stored = self._kube.request("POST", DEFINITIONS, loose)
        assert stored.code == 201, stored.body
        self._wait_for("free", refused=False)
        for index, case in enumerate(self._cases):
            if case.old is not ABSENT:
                body = thing(self._number, f"c{index}", {f"f{index}": case.old})
                assert self._kube.request("POST", self._path, body).code == 201
        fields = {f"f{index}": case.schema for index, case in enumerate(self._cases)}
        guard = ruled({"type": "integer"}, "self == 1")
        schema = {"type": "object", "properties": {"spec": record(**fields, guard=guard)}}
        strict = definition(self._number, schema)
        path = f"{DEFINITIONS}/{strict['metadata']['name']}"
        strict["metadata"] = self._kube.request("GET", path).body["metadata"]
        replaced = self._kube.request("PUT", path, strict)
        assert replaced.code == 200, replaced.body["message"]
        self._wait_for("strict", refused=True)
        made = self._ours.create(DEFINITIONS, definition(self._number, schema))
        assert made.code == 201, made.body["message"]
        self._ours.kinds.add_custom(made.body)

    def _wait_for(self, name: str, *, refused: bool) -> None:
        body = thing(self._number, name, {"guard": 2})

        deadline = Deadline(PATIENCE)
        wanted = 422 if refused else 201
        while self._kube.request("POST", f"{self._path}?dryRun=All", body).code != wanted:
            assert not deadline.passed, f"the {name} schema is not served"

    def answers(self, index: int) -> tuple[Answer, Outcome]:
        case, name = self._cases[index], f"c{index}"
        body = thing(self._number, name, {f"f{index}": case.new})
        if case.old is ABSENT:
            real = self._kube.request("POST", f"{self._path}?dryRun=All", body)
            return real, self._ours.create(self._path, body)
        path = f"{self._path}/{name}"
        old = self._kube.request("GET", path).body
        body["metadata"] = old["metadata"]
        real = self._kube.request("PUT", f"{path}?dryRun=All", body)
        return real, self._ours.update(self._path, old, copy.deepcopy(body))


FREE: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.fixture(scope="module")
def batches() -> dict[int, Batch]:
    return {}


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda index: CASES[index].name)
def test_a_rule_judges_as_on_the_real_server(
    kube: KubeServer, batches: dict[int, Batch], index: int
) -> None:
    number, place = divmod(index, CASES_IN_A_DEFINITION)
    if number not in batches:
        start = number * CASES_IN_A_DEFINITION
        # Never a number again: the server outlives the batches of this file.
        batch = Batch(kube, next(NUMBERS), CASES[start : start + CASES_IN_A_DEFINITION])
        batch.prepare()
        batches[number] = batch

    real, ours = batches[number].answers(place)

    assert _verdict(ours.body) == _verdict(real.body)


def _verdict(body: Any) -> Any:
    if body.get("kind") != "Status":
        return "taken"
    found = [body["message"], body.get("details", {}).get("causes")]
    return json.loads(_TYPE_NUMBER.sub("selfType", json.dumps(found)))


_TYPE_NUMBER: Final = re.compile(r"selfType[0-9]+")  # the real server makes it of the time


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1]}")
def test_a_rule_is_refused_as_on_the_real_server(
    kube: KubeServer, case: tuple[Schema, Any]
) -> None:
    schema, rule = case
    body = definition(99, record(spec=ruled(schema, rule)))

    real = kube.request("POST", f"{DEFINITIONS}?dryRun=All", body)
    ours = DevServerSide().create(DEFINITIONS, body)

    assert _verdict(ours.body) == _verdict(real.body)


@pytest.mark.parametrize("rule", MALFORMED)
def test_what_is_no_expression_is_refused_on_both_servers(kube: KubeServer, rule: str) -> None:
    body = definition(99, record(spec=ruled(PAIR, rule)))

    real = kube.request("POST", f"{DEFINITIONS}?dryRun=All", body)
    ours = DevServerSide().create(DEFINITIONS, body)

    fields = [
        [cause["field"] for cause in answer.body["details"]["causes"]] for answer in (real, ours)
    ]
    assert (real.code, ours.code) == (422, 422)
    assert fields[0] == fields[1]


PATTERNS: Final = [
    *("^a+$", "(a", "a)", "[a", "*", "a**", "(?=a)", "(?!a)", "(?<=a)b", r"(a)\1", r"\Z", r"\z"),
    *("(?P<n>a)", "(?P=n)", "(?<n>a)", "a{1001}", "a{2,1}", "[z-a]", "[[:alpha:]]+", r"\pL+"),
    *(r"\Qa.b\E", "(?i)a", "(?U)a+", "a++", "(?>a)", r"\d+", r"\x{41}", r"\u0041", "(?#c)a", "x*+"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_taken_or_refused_as_on_the_real_server(
    kube: KubeServer, pattern: str
) -> None:
    body = definition(98, record(spec={"type": "string", "pattern": pattern}))

    real = kube.request("POST", f"{DEFINITIONS}?dryRun=All", body)
    ours = DevServerSide().create(DEFINITIONS, body)

    assert json.dumps(_verdict(ours.body)) == json.dumps(_verdict(real.body))

"""The development server takes and refuses broken objects as the real server does.

Every good object is broken in a few ways.  ``REFLET_SEED`` takes other ways, ``REFLET_FUZZ`` so
many times as many (``make fuzz``).
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import RemoteDisconnected
from itertools import islice
from random import Random
from typing import Final

import pytest

from tests.real.devserver_objects import Case, Manifest
from tests.real.devserver_side import DevServerSide
from tests.real.good_objects import good_objects
from tests.real.kube_server import KubeServer
from tests.real.mutations import Mutant, mutants

SEED: Final = os.environ.get("REFLET_SEED", "0")
TRIED: Final = "dryRun=All&fieldValidation=Strict"
TIMES: Final = int(os.environ.get("REFLET_FUZZ", "1"))
EACH: Final = 6 * TIMES

# What says which object is changed, which is not a matter of rules.
IDENTITY: Final = (
    ("metadata",),
    *(("metadata", name) for name in ("name", "namespace", "uid", "resourceVersion")),
)
# Part of a path, what was done, and why the two may differ about it.
KNOWN: Final = (
    ("admission", re.compile(r"\S*xpression "), "expressions are not compiled"),
    ("resource.k8s.io", re.compile(r"\S*xpression "), "expressions are not compiled"),
    (
        "/services",
        re.compile(r"spec\.ports(\.\d+\.nodePort)? "),
        "a dry run does not look at node ports",
    ),
    ("/daemonsets", re.compile(r"\S*template\.generation "), "that count is not read"),
)


def _by_path() -> dict[str, list[Case]]:
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in good_objects():
        found[case[1]].append(case)
    return dict(found)


CASES: Final = _by_path()


@pytest.mark.time_limit(60 * TIMES)
@pytest.mark.parametrize("path", CASES)
def test_a_broken_object_is_judged_as_by_the_real_server(
    kube: KubeServer, namespace: str, path: str
) -> None:
    random, ours = Random(f"{SEED} {path}"), DevServerSide()
    place = path.replace("{namespace}", namespace)
    different = []
    for title, _, body in CASES[path]:
        for mutant in islice(mutants(_in(namespace, body), random), EACH):
            code = _tried(kube, "POST", place, mutant.body)
            made = ours.create(place, mutant.body, validation="Strict")
            if made.code != code and not _is_known(path, mutant, made.code, code):
                different.append(f"{made.code} for {code}: {title}: {mutant.change}")

    assert different == []


@pytest.mark.time_limit(60 * TIMES)
@pytest.mark.parametrize("path", CASES)
def test_a_broken_change_is_judged_as_by_the_real_server(
    kube: KubeServer, namespace: str, path: str
) -> None:
    random = Random(f"{SEED} changes of {path}")
    place = path.replace("{namespace}", namespace)
    different = []
    for title, _, body in CASES[path]:
        with _stored(kube, place, _in(namespace, body)) as stored:
            for mutant in islice(mutants(stored, random, untouched=IDENTITY), EACH // 2):
                code = _changed(kube, f"{place}/{stored['metadata']['name']}", mutant.body)
                made = DevServerSide().update(place, stored, mutant.body, validation="Strict")
                if made.code != code and not _is_known(path, mutant, made.code, code):
                    different.append(f"{made.code} for {code}: {title}: {mutant.change}")

    assert different == []


def _in(namespace: str, body: Manifest) -> Manifest:
    found: Manifest = json.loads(json.dumps(body).replace("{namespace}", namespace))
    return found


NO_ANSWER: Final = 0
"""In place of a code: the real server's handler panics, as at a step of zero."""


def _tried(kube: KubeServer, method: str, place: str, body: Manifest) -> int:
    try:
        return kube.request(method, f"{place}?{TRIED}", body).code
    except RemoteDisconnected:
        return NO_ANSWER


def _is_known(path: str, mutant: Mutant, ours: int, real: int) -> bool:
    known = any(word in path and done.match(mutant.change) for word, done, _ in KNOWN)
    return known or real == NO_ANSWER


@contextmanager
def _stored(kube: KubeServer, path: str, body: Manifest) -> Iterator[Manifest]:
    """Store an object while it is changed: some would be in the way of other tests."""
    made = kube.request("POST", path, body)
    assert made.code == 201, made.body
    place = f"{path}/{made.body['metadata']['name']}"
    while "customresourcedefinitions" in path and not _is_established(made.body):
        made = kube.request("GET", place)
    made.body["metadata"].pop("managedFields", None)
    try:
        yield made.body
    finally:
        kube.request("DELETE", place)


def _is_established(definition: Manifest) -> bool:
    conditions = definition["status"].get("conditions") or ()
    return any(each["type"] == "Established" for each in conditions)


def _changed(kube: KubeServer, place: str, body: Manifest) -> int:
    """Try a change; what controllers wrote in the meantime is no conflict."""
    while True:
        code = _tried(kube, "PUT", place, body)
        if code != 409:
            return code
        stored = kube.request("GET", place).body
        body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]

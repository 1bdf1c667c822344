"""The development server takes and refuses broken objects as the real server does.

Every good object is broken in a few ways.  ``REFLET_SEED`` takes other ways, ``REFLET_FUZZ`` so
many times as many (``make fuzz``).
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from http.client import RemoteDisconnected
from itertools import islice
from random import Random
from typing import Final

import pytest

from tests.real.devserver_objects import Case
from tests.real.devserver_side import DevServerSide
from tests.real.good_objects import good_objects
from tests.real.kube_server import KubeServer
from tests.real.mutations import mutants

SEED: Final = os.environ.get("REFLET_SEED", "0")
TIMES: Final = int(os.environ.get("REFLET_FUZZ", "1"))
EACH: Final = 6 * TIMES

# Kinds with no rules of their own here, as devserver-differences.md says: they may be taken where
# the real server refuses them, and never the other way round.
WITHOUT_RULES: Final = (
    *("admissionregistration", "apiregistration", "certificates", "flowcontrol"),
)

# Expressions that select devices are not compiled, as devserver-differences.md says.
NOT_COMPILED: Final = ".cel.expression"


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
    allowed = {(201, 422)} if any(word in path for word in WITHOUT_RULES) else set()
    different = []
    for title, _, body in CASES[path]:
        good = json.loads(json.dumps(body).replace("{namespace}", namespace))
        for mutant in islice(mutants(good, random), EACH):
            try:
                real = kube.request(
                    "POST", f"{place}?dryRun=All&fieldValidation=Strict", mutant.body
                )
            except RemoteDisconnected:
                continue  # the real server's handler panics, as at a step of zero
            made = ours.create(place, mutant.body, validation="Strict")
            verdicts = (made.code, real.code)
            if NOT_COMPILED in mutant.change and verdicts == (201, 422):
                continue
            if made.code != real.code and verdicts not in allowed:
                different.append(f"{made.code} for {real.code}: {title}: {mutant.change}")

    assert different == []

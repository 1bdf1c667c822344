"""Scenes about requests that are made as somebody else.

Owns: these scenes.  Must not know how they are played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.real.devserver_objects import config_map
from tests.real.differential.script import (
    CONFIG_MAPS,
    CORE,
    Ask,
    Scene,
    delete,
    get,
    patch,
    post,
    scene,
)

WHO_AM_I: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ACCOUNT: Final = "system:serviceaccount"

# Who is asked for; of each, who one then is.
ASKED_FOR: Final[tuple[dict[str, str], ...]] = (
    {"User": "jane"},
    {"User": "jane", "Uid": "7"},
    {"User": "jane", "Group": "dev"},
    {"User": "jane", "Group": ""},
    {"User": "jane", "Group": "system:masters"},
    {"User": "jane", "Group": "system:authenticated"},
    {"User": "jane", "Group": "system:unauthenticated"},
    {"User": "jane", "Extra-Scopes": "view", "Extra-Acme.com%2fproject": "alpha"},
    {"User": "jane", "Extra-Empty": "", "Uid": "x y"},
    {"User": "system:anonymous"},
    {"User": "system:anonymous", "Group": "system:unauthenticated"},
    {"User": "system:anonymous", "Group": "dev"},
    {"User": f"{ACCOUNT}:shop:robot"},
    {"User": f"{ACCOUNT}:shop:robot", "Group": "dev"},
    {"User": f"{ACCOUNT}:shop:robot", "Uid": "7"},
    {"User": f"{ACCOUNT}:Shop:robot"},
    {"User": f"{ACCOUNT}:shop:robot:arm"},
    {"User": f"{ACCOUNT}:shop"},
    {"User": "system:node:"},
    {"User": "system:node:a", "Group": "system:nodes"},
    {"User": "system:node:A/b"},
    {"User": "jos\u00e9"},
    {"Group": "dev"},
    {"Uid": "7"},
    {"Uid": ""},
    {"User": "", "Group": "dev"},
    {"Extra-Scopes": "view"},
    {"Group": "a \"b\"", "Uid": "7", "Extra-B": "c", "Extra-A": "d"},
    {"User": ""},
)  # fmt: skip


def acting_as(wanted: Mapping[str, str]) -> dict[str, str]:
    """Give the headers by which a request is made as somebody."""
    return {
        f"Impersonate-{name}": value.encode().decode("latin-1") for name, value in wanted.items()
    }


def impersonation_scenes() -> Iterator[Scene]:
    """Yield the scenes."""
    yield scene("whom one acts as", *_whom())
    yield scene("what others may do", *_rights())


def _whom() -> Iterator[Ask]:
    for wanted in ASKED_FOR:
        yield post(WHO_AM_I, {}, headers=acting_as(wanted), differs=_differs(wanted))
    jane = acting_as({"User": "jane", "Group": "system:masters"})
    yield post(CONFIG_MAPS, config_map(data={"a": "b"}), headers=jane)
    yield get(f"{CONFIG_MAPS}/x", headers=jane)
    yield get("/version", headers=acting_as({"Group": "dev"}))
    wrong = {"Authorization": "Bearer nobody's"}
    yield get("/version", headers=acting_as({"User": "jane"}) | wrong)
    yield get("/version", headers=acting_as({"Group": "dev"}) | wrong)


def _differs(wanted: Mapping[str, str]) -> dict[str, str]:
    if "system:unauthenticated" in wanted.values() or wanted.get("User") == "system:anonymous":
        return dict.fromkeys(("code", "body"), "roles")
    nobody = wanted in ({"User": ""}, {"Uid": ""})
    return {"body.status.userInfo": "administrator"} if nobody else {}


def _rights() -> Iterator[Ask]:
    """Whoever has no role: refused by the real server, and not by ours, which has no roles."""
    roleless: dict[str, Any] = {"differs": dict.fromkeys(("code", "body"), "roles")}
    for wanted in (
        {"User": "jane"},
        {"User": "system:node:<ns>", "Group": "dev"},
        {"User": "worker", "Group": "system:nodes"},
        {"User": f"{ACCOUNT}:<ns>:robot"},
        {"User": "system:anonymous"},
    ):
        headers = acting_as(wanted)
        yield get(CONFIG_MAPS, headers=headers, **roleless)
        yield get(f"{CORE}/secrets/x", headers=headers, **roleless)
        yield post(f"{CONFIG_MAPS}?dryRun=All", config_map(), headers=headers, **roleless)
        yield patch(f"{CONFIG_MAPS}/x", {}, headers=headers, **roleless)
        yield delete(f"{CONFIG_MAPS}/x", headers=headers, **roleless)

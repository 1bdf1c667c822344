"""The defaults of a pod template that stands in an object whose server does not know it as one.

A custom resource keeps its template as it was written; the pods made from it get the defaults when
they are created, so that the template of a Rollout means what that of a Deployment does.

Upstream: pkg/apis/core/v1/defaults.go
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from reflet.apirules.defaults.by_type import fill_defaults
from reflet.apirules.schema.decoding import decode
from reflet.apirules.schema.schemas import Schema, Schemas

_TEMPLATE: Final = "io.k8s.api.core.v1.PodTemplateSpec"


def filled_template(document: dict[str, Any]) -> dict[str, Any]:
    """Return a template as the API server would keep it; fields that pods do not have are left out.

    Raises DecodeError, with the server's words, for a value of a wrong type.
    """
    schema = _schema()
    made = decode(schema, document, [])
    fill_defaults(schema, made)
    return made


@cache
def _schema() -> Schema:
    return Schemas.recorded().lookup(_TEMPLATE)

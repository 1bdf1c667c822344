"""Reads YAML into what JSON can say, and says what is wrong with it in the API server's words.

The reading is api/yaml's, which manifests go through too; only the words and what is allowed are
the server's own.  A key that is there twice is not noticed: the last one counts.

Upstream: sigs.k8s.io/yaml/yaml.go, YAMLToJSON; go.yaml.in/yaml/v2/{decode,resolve}.go
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, final

from reflet.api.yaml.dialects import YamlProblem
from reflet.api.yaml.documents import documents
from reflet.errors import DecodeError

# The real server reads 10,000 levels.  Python's own stack ends earlier, and no real object has
# a tenth of this.
DEEPEST: Final = 128
TOO_DEEP: Final = "exceeded max depth"

_TO_JSON: Final = "error converting YAML to JSON: "
_WORDS: Final[Mapping[YamlProblem, str]] = MappingProxyType(
    {
        YamlProblem.NOT_A_KEY: f"{_TO_JSON}Unsupported map key of type: {{0}}",
        YamlProblem.TOO_DEEP: TOO_DEEP,
        YamlProblem.NOT_A_JSON_NUMBER: f"{_TO_JSON}json: unsupported value: {{0}}",
        YamlProblem.NOT_BASE64: f"{_TO_JSON}yaml: !!binary value contains invalid base64 data",
        YamlProblem.WRONG_TAG: f"{_TO_JSON}yaml: cannot decode !!{{1}} `{{2}}` as a !!{{0}}",
        YamlProblem.NOT_MERGEABLE: (
            f"{_TO_JSON}yaml: map merge requires map or sequence of maps as the value"
        ),
        YamlProblem.UNKNOWN_ANCHOR: f"{_TO_JSON}yaml: unknown anchor '{{0}}' referenced",
        YamlProblem.CONTAINS_ITSELF: f"{_TO_JSON}yaml: anchor '{{0}}' value contains itself",
        YamlProblem.TOO_MANY_ALIASES: f"{_TO_JSON}yaml: document contains excessive aliasing",
        YamlProblem.INCOMPATIBLE: f"{_TO_JSON}yaml: found incompatible YAML document",
    }
)
_GO_TYPES: Final[Mapping[type, str]] = MappingProxyType(
    {
        type(None): "<nil>",
        float: "float64",
        list: "[]interface {}",
        dict: "map[string]interface {}",
    }
)


def read_yaml(body: bytes) -> Any:
    """Read the first document of a text; None when there is none.  DecodeError with Go's words."""
    text = body.decode("utf-8", "replace")
    if text.lstrip()[:1] == "{":
        try:
            return json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            pass  # It may still be YAML, and if not, the words are those of YAML.
    first = next(documents(text, _ServerDialect()), None)
    return None if first is None else first.value


def _no_constant(name: str) -> Any:
    raise ValueError(name)


@final
class _ServerDialect:
    deepest = DEEPEST
    repeated_keys = True
    binary_errors = "replace"

    def complaint(self, problem: YamlProblem, line: int, *details: Any) -> DecodeError:  # noqa: ARG002 - Go names no line here
        if problem is YamlProblem.NOT_A_KEY:
            details = (_GO_TYPES[details[0]],)
        return DecodeError(_WORDS[problem].format(*details))

    def syntax_complaint(self, error: Any, text: str) -> DecodeError:  # noqa: ARG002 - the error knows the place
        if hasattr(error, "problem"):
            return DecodeError(f"{_TO_JSON}yaml: {_where(error)}{error.problem}")
        return DecodeError(f"{_TO_JSON}yaml: {getattr(error, 'reason', error)}")


def _where(error: Any) -> str:
    """Name the line as the real server's reader does, which knows no first line."""
    for mark in (error.context_mark, error.problem_mark):
        if mark is not None and mark.line:
            # A scanner stops on the line that is wrong, a parser on the one after it.
            return f"line {mark.line + (type(error).__name__ == 'ScannerError')}: "
    return ""

"""Places inside an object, as text: ``spec.containers[0].env[1].value``, ``data["tls.crt"]``.

Upstream: apimachinery/pkg/util/validation/field/path.go, Path
"""

import re
from typing import Final

from reflet.gotext.lazy_patterns import lazy_pattern

STEP: Final = lazy_pattern(r'\.?([^.\[\]"]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]')

_ESCAPED: Final = str.maketrans(
    {"\\": "\\\\", '"': '\\"'} | {chr(code): f"\\x{code:02x}" for code in (*range(32), 127)}
)


def with_field(path: str, name: str) -> str:
    """Return the path of a field of the struct at ``path``."""
    return f"{path}.{name}" if path else name


def with_index(path: str, index: int) -> str:
    """Return the path of an element of the array at ``path``."""
    return f"{path}[{index}]"


def with_key(path: str, key: str) -> str:
    """Return the path of a key of the mapping at ``path``; always one printable line."""
    return f'{path}["{key.translate(_ESCAPED)}"]'


def joined(outer: str, inner: str) -> str:
    """Return ``inner`` as seen from where ``outer`` starts."""
    if not outer or not inner or inner.startswith("["):
        return outer + inner
    return f"{outer}.{inner}"


def steps(path: str) -> tuple[str | int, ...]:
    """Return the names and numbers that lead to the place."""
    found: list[str | int] = []
    for name, index, key in STEP.findall(path):
        if index:
            found.append(int(index))
        else:
            found.append(name or _unescaped(key))
    return tuple(found)


def _unescaped(key: str) -> str:
    return re.sub(
        r"\\(?:x([0-9a-f]{2})|(.))",
        lambda match: chr(int(match[1], 16)) if match[1] else match[2],
        key,
    )

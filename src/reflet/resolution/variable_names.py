"""Names of environment variables: which the API server accepts, now and in the seeds' time.

Owns: both rules.  Must not know what happens to names that break them.
"""

import re
from typing import Final

_PRINTABLE: Final = re.compile(r"[ -<>-~]+")
_NARROW: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def is_valid(name: str) -> bool:
    """Tell whether the API server accepts the name: printable ASCII without ``=``, not empty."""
    return _PRINTABLE.fullmatch(name) is not None


def was_valid(name: str) -> bool:
    """Tell whether the kubelet of Kubernetes 1.19 took the name: letters, digits, ``-._``.

    It may not begin with a digit or two dots, nor be a single dot.
    """
    return _NARROW.fullmatch(name) is not None and name != "." and not name.startswith("..")

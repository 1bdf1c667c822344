"""The formats of texts that schemas name, and which texts have them.

Upstream: kube-openapi/pkg/validation/strfmt
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Final

from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.times import MalformedTime, read_time

_FORMATS: Final[Mapping[str, re.Pattern[str]]] = {
    "email": lazy_pattern(r"[^@\s]+@[^@\s]+"),
    "ipv4": lazy_pattern(r"((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)"),
    "uuid": lazy_pattern(r"(?i)[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}"),
    "byte": lazy_pattern(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"),
}
# What is missing to a whole moment.
_MOMENTS: Final[Mapping[str, str]] = {"date": "T00:00:00Z", "date-time": "", "datetime": ""}


def has_format(form: str, value: str) -> bool:
    """Tell whether a text has a format; what is not known is taken."""
    if form in _MOMENTS:
        try:
            read_time(f"{value}{_MOMENTS[form]}")
        except MalformedTime:
            return False
        return True
    if form in {"ipv6", "cidr"}:
        return _is_address(form, value)
    known = _FORMATS.get(form)
    return known is None or known.fullmatch(value) is not None


def _is_address(form: str, value: str) -> bool:
    read = ipaddress.IPv6Address if form == "ipv6" else ipaddress.ip_interface
    if "%" in value or (form == "cidr" and not value.rpartition("/")[2].isdecimal()):
        return False
    try:
        read(value)
    except ValueError:
        return False
    return form == "ipv6" or "/" in value

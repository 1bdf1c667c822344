"""Writes the last full run of the mirror benchmark into docs/performance.md.

Owns: the section "The mirror" of that page, and nothing else in it.  Must not measure.

::

    python -m benchmarks mirror && python -m benchmarks.mirror_report
"""

from __future__ import annotations

import sys
from typing import Final

from benchmarks.performance_page import section, write

TITLE: Final = "## The mirror"

INTRODUCTION: Final = """\
What it costs to keep a collection in memory: Reflet's shared informer next to the clients that
Python programs use today, and to client-go. Each runs in a process of its own, the peers as
released on PyPI in environments of their own, all in turns; figures are medians, with the range
in brackets.

The synthetic server sends what was encoded before anybody asked, so that the client is what is
measured: plain HTTP/1.1 for the Python peers, HTTP/2 over TLS for client-go, both for Reflet.
ConfigMaps are 1,024 bytes of JSON each, pods 5,600, `managedFields` included. Reflet's typed
objects keep the fields that a kubelet reads and drop `managedFields`; the others keep every
field. Clients without a cache of their own keep objects in a dict of the benchmark's. The bare
loop reads the socket, takes HTTP's framing off and decodes with Reflet's decoder: nothing that
mirrors can be faster. The one that keeps also puts each object into a dict: the difference is what
it costs that memory is not fresh any more, which no mirror can avoid.

CPU time is the figure to compare: the clock counts what else the machine does. It is not quiet
either: whoever holds much in memory shares the processor's cache with everything that runs.
client-go works in several threads, the others in one.
"""


def main() -> int:
    """Write the section; 1 when there is no result."""
    return write("mirror", TITLE, lambda result: section(TITLE, INTRODUCTION, result))


if __name__ == "__main__":
    sys.exit(main())

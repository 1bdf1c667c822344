"""Writes the last full run of the managers benchmark into docs/performance.md.

Owns: the section "The managers" of that page, and nothing else in it.  Must not measure.

::

    python -m benchmarks managers && python -m benchmarks.managers_report
"""

from __future__ import annotations

import sys
from typing import Final

from benchmarks.performance_page import section, write

TITLE: Final = "## The managers"

INTRODUCTION: Final = """\
What it costs to keep the ConfigMaps and Secrets of registered pods fresh: Reflet's managers next
to the kubelet's own (`k8s.io/kubernetes/pkg/kubelet/configmap` and `secret`, watching, with
protobuf as the kubelet has it, and without its limit of requests a second, as ours). Both register
the same pods with 10 references each, on the same real kube-apiserver, each in a process of its
own, in turns; figures are medians, with the range in brackets.

- **All synced** is from the first registration until every object could be read. The server works
  as hard as the client meanwhile, on the same two cores.
- **KB per object** is what resident memory grew by, two seconds later and after a garbage
  collection; Go is also told to give back what it does not need.
- **Reads** are `peek` of ours, a look into memory that any thread may take, and `GetConfigMap` or
  `GetSecret` of theirs; `await get` is the call that waits where it has to.
- **Pods** are registrations and unregistrations of pods whose objects other pods use as well, so
  that no stream comes or goes: the bookkeeping alone.
- **Freshness** is from the writer's moments, in another process, until a subscriber's read showed
  the change. An event may overtake the answer to its write: that counts as 0. The kubelet's
  manager tells nobody of changes, so it has no such figure: whoever wants to know reads again,
  the kubelet about once a minute.
"""


def main() -> int:
    """Write the section; 1 when there is no result."""
    return write("managers", TITLE, lambda result: section(TITLE, INTRODUCTION, result))


if __name__ == "__main__":
    sys.exit(main())

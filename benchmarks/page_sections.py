"""The words of the sections of docs/performance.md.

Owns: what each benchmark measures and how to read its tables.  Must not hold figures:
those come from results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: its heading, and the words before its tables."""

    title: str
    introduction: str


SECTIONS: Final[Mapping[str, Section]] = {
    "mirror": Section(
        "## The mirror",
        """\
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
""",
    ),
    "node": Section(
        "## The node agent",
        """\
How fresh the files of running pods are, how fast many pods start, what the agent costs, and what
is left after everything was killed at random. The agent, its keeper, the development server and
the containers are processes of their own, as people run them, all on the same two cores; the
times are read from one clock that all processes share.

- **To the file** is from the moment the server's answer to a write has arrived until the new bytes
  are visible (the rename of `..data`, told by inotify). Each pod has a ConfigMap of its own, and
  pods are written to in turn, one write at a time.
- **To the signal** is until the container's process, which asked for a signal on change, has done
  its first thing about it: a shell that writes a file.
- **To the last file of all pods** is one write to one ConfigMap that every pod mounts.
- **Started at once** are pods with three ConfigMaps and two Secrets each, until the server shows
  the last of them as running.
- **kill -9 at random** hits the agent, its keeper, the server and the containers, while ConfigMaps
  are edited and pods are replaced. At the end every pod must run, every file equal its object, and
  no process and no folder be left of anything else.
""",
    ),
    "managers": Section(
        "## The managers",
        """\
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
""",
    ),
    "faults": Section(
        "## Faults",
        """\
What each client asks of a server that is not well, and whether it ends with the right objects:
`lists + watches`, counted by the server, which counts to 10,000, and the verdict once the fault
is over. The same scenes are tests of ours (`tests/integration/test_mirror_faults.py`), on the
development server and the real one.
""",
    ),
    "resolution": Section(
        "## Resolution",
        """\
What it costs to compute a container's environment and a pod's volumes from objects in hand, and
how long a person waits for `reflet env -f` from a cold start. The pod has 20 variables from five
objects.
""",
    ),
    "start_up": Section(
        "## Start-up",
        """\
What a program pays for importing Reflet and a person for a command, in processes of their own.
Milliseconds by the clock depend on what else runs; CPU time does so less.
""",
    ),
    "wire": Section(
        "## The wire",
        """\
Many watches and busy ones, on the real kube-apiserver and on a synthetic server, through Reflet's
two transports and others that were considered: the figures behind
[record 3](adr/0003-wire.md).
""",
    ),
}
"""The benchmarks whose sections are written from results; the others' are written by hand."""

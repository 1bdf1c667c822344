"""The words of the pages in docs/performance.

Owns: what each benchmark measures and how to read its tables.  Must not hold figures:
those come from results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Section:
    """A page: its title, and the words before its tables."""

    title: str
    introduction: str


SECTIONS: Final[Mapping[str, Section]] = {
    "commands": Section(
        "Commands on a large cluster",
        """\
What commands cost that ask a server for much, next to kubectl's nearest, on a server that is
filled step by step: for each hundred pods five Deployments, thirty ConfigMaps and twenty Secrets,
in fifty namespaces. Where the real kube-apiserver is not built, it is the development server. Each
command is a process of its own, whose output is thrown away; figures are medians, with the range
in brackets. The goal for a command that asks for everything is twice kubectl's time at most, and
300 MB. Times by the clock hold for this machine under the load that is named below: compare the two
rows of a pair, not times with those of another day.

- **`get -o json`** prints the same objects as kubectl does, `managedFields` left out by both.
- **`watch`** ends when SYNCED is printed, kubectl's when it has printed a line for each pod.
- **`used-by`** needs ten lists; kubectl gets the same ten, the least that a script would do.
- **`why`** needs twelve lists, of pods, workloads, warnings, services and configuration; kubectl
  gets the same twelve.
- **`stale`** needs five lists, **`unused`** twelve; kubectl gets the same ones.
- **`ui`** ends when the page can be opened, with everything on it; kubectl gets the three kinds.
- **Requests** are what the server counted, its own few included; a watch that begins with the
  objects is none of them. Lists come in pages of 500.
- **`lint`** reads all Deployments of the cluster from one JSON file, as `kubectl get deploy -A -o
  json` writes it, and looks up what they refer to; kubectl gets all ConfigMaps and Secrets.
- **`env`** is about one Deployment, however large the cluster is: nearly all of it is the start of
  Python.
""",
    ),
    "controllers": Section(
        "Controllers",
        """\
What a controller costs that looks after thousands of objects, how soon it sees a write, and how
long nobody leads when the leader is killed: Reflet's `reconcile` and `leader` next to kopf, as
released on PyPI, and to controller-runtime, with their defaults. All work on the same custom
resource of about 1 KiB with a status, on the same real kube-apiserver over TLS on the same two
cores, each in a process of its own, in turns; figures are medians, with the range in brackets.

- **No-op**: the function reads its object and returns. Counted from the start of the controller,
  connection and first list included, until it was called for every object.
- **Status patch**: it patches the status of each object, in the way its documentation shows
  (`patch(…, subresource="status")`, `Status().Patch`, `patch.status`). The patch comes back as an
  event, and its call finds nothing to do: the clock stops when that was so for every object. Reflet
  and controller-runtime have the same number of workers. kopf has no such number: it works on all
  objects at once. Nobody limits its requests a second. The server is the slowest of all, so
  objects a second are its figure more than the controller's. CPU is the controller's own, and most
  of it is the request: HTTP/2 and TLS in Python, which no controller can save.
- **kopf** is there twice. `on.event` gets every event and remembers nothing, so it is the nearest
  to a function that reconciles, and the cheaper one: the goals are against it. The handlers
  that its pages begin with are called for changes of what matters, which kopf knows by an
  annotation that it writes into each object; they ran once, on objects of their own.
- **Latency** counts from the moment before a write is sent to the first call that sees it. The
  event usually comes before the answer to the write, which is then 0. Nearly all of it is the
  server's and the scheduler's, so which of two p99 is the longer can change from run to run.
- **Leader election**: two candidates for a Lease, of which the leader is killed with SIGKILL at a
  random moment of its period of renewals. Until the Lease has run out nobody may lead, and then it
  takes until the other candidate looks again: both ask every one to 2.2 periods. client-go compares
  renewals by whole seconds: where they come more often it counts from an earlier one, and is a
  little sooner. kopf has no election by Lease, and none here: peering pauses operators of a lower
  priority, by the clocks of their machines.

Memory is the peak of resident memory of the whole process.
""",
    ),
    "devserver": Section(
        "The development server",
        """\
What load does to `reflet serve`: a process of its own, over loopback, where the load comes from
other processes on bare sockets. Figures are medians, with the range in brackets. Times say more
about what else the machine does than the server's CPU and memory do; the soak needs nearly two
cores.

- **A watch** costs much less without TLS than with it. A write wakes only the watches that it
  concerns, so the time to the one watch of an object hardly depends on how many others there are.
- **A fan-out** grows about in proportion to its watches. The server's CPU per event says it better
  than times do: it is nearly the same at every size. An event is put into bytes once; what is left
  for each watch is one write to a socket and, with TLS, its own encryption.
- **Nothing is lost** in the soak when every watch gets as many events as there were writes, and one
  watch that is read whole gets exactly the versions written, in order. A write's latency counts
  from the moment at which it is due, so a server that falls behind cannot hide it.
- **Memory** is mostly the history that watches resume from, at most 10,000 changes for each
  resource, which is full before the soak begins; and the record of the last 10,000 requests, for
  tests to count. Both are bounded, so a soak may add little once every watch has had its first
  events, for which a TLS connection needs some memory of its own.
- **The tail** of the soak is that of a server whose only thread is busy nearly all of the time:
  each write leaves it as many times as there are watches. Whatever makes it pause, the scheduler
  or a disk, is followed by a queue that it works off with the little that is left. SQLite, which
  leaves it less, has the longer tail. In an instrumented run no record took as long, nor did any
  round of the event loop.
""",
    ),
    "mirror": Section(
        "The mirror",
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
mirrors can be faster. The one that keeps also puts each object into a dict, which every mirror
has to do.

Compare CPU time: the clock also counts what else the machine does. client-go works in several
threads, the others in one.
""",
    ),
    "node": Section(
        "The node agent",
        """\
How fresh the files of running pods are, how fast many pods start, what the agent costs, and what
is left after everything was killed at random. The agent, its shim, the development server and
the containers are processes of their own, as people run them, all on the same two cores; the
times are read from one clock that all processes share.

- **To the file** is from the moment the server's answer to a write has arrived until the new bytes
  are visible (the rename of `..data`, seen by inotify). Each pod has a ConfigMap of its own, and
  pods are written to in turn, one write at a time.
- **To the signal** is until the container's process, which asked for a signal on change, has done
  its first thing about it: a shell that writes a file.
- **To the last file of all pods** is one write to one ConfigMap that every pod mounts.
- **Started at once** are pods with three ConfigMaps and two Secrets each, until the server shows
  the last of them as running.
- **kill -9 at random** hits the agent, its shim, the server and the containers, while ConfigMaps
  are edited and pods are replaced. At the end every pod must run, every file equal its object, and
  no process and no folder be left of anything else.
""",
    ),
    "pleg": Section(
        "Containers that end",
        """\
The pod lifecycle event generator on real containers: containerd and runc, with pods that do
nothing. The kubelet beside it is the real one, built from its Go module, on the same machine, with
the same API server and runtime, each alone with them while it is measured.

- **At rest** is CPU in a minute in which nothing happens to the pods, and what the runtime spends
  in the same minute. The kubelet does more in it than we do: it also collects statistics of every
  container.
- **From a death** is from `kill -9` of a container's process, at a random moment, one after the
  other. The status cache alone is a program that has nothing else; on a node it is until a client
  that watches the pods has the container's end.
- **By relist** everything is listed every second; **with events** the runtime reports what happens,
  and everything is listed every five minutes. The kubelet relists by default, and does the other
  with its feature gate `EventedPLEG`; our node always does, and relists where a runtime has no
  events.
""",
    ),
    "managers": Section(
        "The managers",
        """\
What it costs to keep the ConfigMaps and Secrets of registered pods fresh: Reflet's managers next
to the kubelet's own (`k8s.io/kubernetes/pkg/kubelet/configmap` and `secret`, watching, with
protobuf as the kubelet has it, and without its limit of requests a second, as ours). Both register
the same pods with 10 references each, on the same real kube-apiserver, each in a process of its
own, in turns; figures are medians, with the range in brackets.

- **All synced** is from the first registration until every object could be read. The server works
  as hard as the client meanwhile, on the same two cores.
- **KB per object** is what resident memory grew by, two seconds later and after a garbage
  collection; Go also returns what it does not need.
- **Reads** are `peek` of ours, which reads memory from any thread, and `GetConfigMap` or
  `GetSecret` of theirs; `await get` is the call that waits where it has to.
- **Pods** are registrations and unregistrations of pods whose objects other pods use as well, so
  that no stream comes or goes: the bookkeeping alone.
- **Freshness** is from the writer's moments, in another process, until a subscriber's read showed
  the change. An event may overtake the answer to its write: that counts as 0. The kubelet's
  manager notifies nobody of changes, so it has no such figure: the kubelet polls, about once a
  minute.
""",
    ),
    "idle": Section(
        "While nothing changes",
        """\
What clients do when there is nothing to do. Everybody holds what it has synced, on the same real
kube-apiserver, for three minutes in a row, each contestant at three sizes, each in a process of
its own; all of them wait at the same time, since waiting takes no turns. Everything is given by
the minute: the median of three windows of a minute, with the range in brackets, for the three
sizes one after the other. `none` is the growth of what is zero at some size.

- **Requests** are counted by the server, in its audit log, as lists, watches, gets and others.
- **Bytes and connections** are counted by a relay in front of the server, in which each
  contestant has a door of its own: TLS records as they travel, without what TCP adds.
- **CPU** is the process's own time; answering how much that is takes part of a millisecond of it.
- **Watches** is what the client asks for: bookmarks or none, and for how long at most. When that
  time is over it asks for the next watch: a request every five to ten minutes, where it is 300 to
  600 s. Without a limit the server ends a watch after half an hour to an hour.

Silence is not the goal of a mirror. About once a minute the server sends a bookmark to those who
ask for one, some 130 bytes on HTTP/1.1; with it the client can go on from a version that the
server still knows. Who asks for none receives nothing, and after a long quiet time it may have to
list everything again. On HTTP/2, Reflet and client-go also ask with a ping whether the other side
is still there when nothing was heard for 30 seconds; the others ask nothing while they wait.

The managers keep ConfigMaps of 1 KiB that pods refer to, 10 each, and each pod is looked at once
in a period, one after the other, which reads all it refers to: the kubelet does so every 60 to 90
seconds. `get` asks the server at every read. `cache` asks when its copy is older than its TTL, here
five sixths of the period. `watch` has a watch for every object, which each has bookmarks of its
own; `auto` has one for the namespace where that is less. The kubelet's are its own managers, with
protobuf.

An agent renews its lease every ten seconds, as a kubelet does: those are its requests. The shim
of its containers, a process of its own, is in its CPU time; the containers are not.
""",
    ),
    "recovery": Section(
        "Recovery",
        """\
How clients come back after their server was away, and what that costs. Two real kube-apiservers
share one etcd, and everybody follows ConfigMaps of the first one, each client in a process of its
own. Each object has a stream of its own, a mirror or an informer of its own among those, but for
`auto`, which has one stream for all of them. The first server is stopped in its tracks, every
object is changed through the second, and the first is killed. Some seconds later it is started
again at the same address, with the empty watch cache of every new kube-apiserver, which answers 410
to all who go on where they were. An object is live again when its change is seen.

- **Seconds** count from the moment at which the server's `/readyz` says yes, about a second after
  it begins to serve: who is early is below zero. Who storms a server that is starting delays that
  moment as well, which is why it is shown. Streams are given up after 110 s (`>`). There is one
  outage for each figure, so a single stream of client-go's is one draw of its jitter.
- **Attempts to connect** are counted in the clients: in Go by the dialer that client-go is given,
  in Python by the interpreter, which reports every `connect` of a socket. While
  away are those from the kill until the server's process is started again, none of which can
  succeed; afterwards are all others.
- **Requests** are counted by the server, in its audit log, from its start until the client's last
  object was live.
- **CPU** is the client's own, from the kill until its last object was live. The kubelet's manager
  notifies nobody of changes, so it is read every 0.1 s by a thread whose time is taken off again.

The machine has two cores. After 10 and 40 s, client-go's streams come back spread over more than
half a minute and more than a minute and a half: its clients go through these outages together, in
the same one as Reflet's `watch` with most streams. After a second they come back at once, so they
take turns with ours. Reflet's clients with thousands and with hundreds of streams have an outage
each. Neither side logs, and neither limits its requests.

The other circumstances: a **load balancer** accepts connections at all times and hangs up when
there is no server behind it, which to its clients is no refusal. Rights **by RBAC** are loaded
after the server begins to serve, and until then it answers 403 to everybody who is not an
administrator. On **HTTP/1.1** each stream has a connection of its own.
""",
    ),
    "faults": Section(
        "Faults",
        """\
What each client asks of a server that is not well, and whether it ends with the right objects:
lists and watches, counted by the server; connections, tried and counted by the client, whether or
not anybody answered; the verdict once the fault is over, and after how many seconds it was right,
to a fifth of a second. A server that is away refuses connections, and comes back at the same
address without its history; [Recovery](recovery.md) is the same with thousands of watches. Each
client is used as its documentation shows, in a process of its own: the Python peers as released on
PyPI, in environments of their own, and client-go, which lists by watching by default, as Reflet
does. Clients without a cache of their own keep objects in a dict of the benchmark's. The server is
the development server without TLS, so that everybody speaks HTTP/1.1, client-go too.

Clients that only wait do so at the same time; one that asks again without a pause meets the fault
alone, so that it slows nobody down. `ended` is a client that gave up, with the error that it left
to its caller; who is `wrong` had time to become right, but for the silent stall, after which
nobody is given any. There the server stops talking on one stream while its connection lives, which
looks like a cluster in which nothing happens: Reflet opens such a stream again after 15 minutes,
and a connection whose other end is gone is noticed within one. The same scenes are tests of ours
(`tests/integration/test_mirror_faults.py`), on the development server and the real one.
""",
    ),
    "fleet": Section(
        "A fleet",
        """\
What 5,000 agents with 20 streams each do to an API server that was away: 100,000 reflectors on
virtual time. The reflectors and their gates are the real ones; the server and the connections are
a model. Nothing depends on the machine: the same seed gives the same figures everywhere.

- **The server** refuses connections for 40 s, or 10 s. Then it does 2,000 TLS handshakes and 40,000
  requests a second, in the order in which they came, and answers 429 with `Retry-After: 1` while
  4,000 requests wait. In its first second it knows no rules yet and answers 403. To a watch from
  a version of before it answers 410, since its watch cache is new; the stream then lists. A round
  trip takes 1 ms.
- **These numbers are assumptions.** With a millisecond of a processor for each, 40,000 requests are
  what three servers of 16 cores can do, and 4,000 at a time is what the servers of large clusters
  are set to. 2,000 handshakes are few on purpose, the work of two to four cores, so that a storm
  of connections shows. No client could be faster than the 2.5 s that 5,000 handshakes take, and
  the 5 s of 200,000 requests: for every stream a watch, which finds its version gone, and a list.
- **client-go's policy** is the same reflector without a gate: delays of 0.8 s that double up to
  30 s, each with as much again by chance, and the next one after a 410 too; a dial for every
  stream while there is no connection, as Go's `net/http` does it, for 10 s at most; a 429 is
  asked again after the second that the server wants, ten times. Streams that follow it come back
  as those of the kubelet's managers do on a real server.
- **Live** is an agent when all its streams are, in seconds after the server listens. A refused
  attempt costs the server nothing, since nobody is there; the network and the agents it does. In
  an outage of minutes there are more of ours: 5,000 agents that try every 1.25 s on average are
  4,000 a second, and 100,000 streams of client-go's that have come to wait for 45 s are 2,200.
- **Peaks** are of the busiest second. That of requests is higher than client-go's: an agent that is
  connected asks for all its streams, and it is the 429s of the server that spread them over the
  next seconds. client-go's come one by one as its streams wake up.
- **The longest wait between two tries, and its jitter,** are what this simulation decides; first
  waits are shorter and matter less. The longer the wait, the wider the return of the fleet is
  spread, and jitter keeps it from coming back in step. But the last stream of one agent is to be
  live a second after `/readyz`, and that comes a second after the server listens, so that it may
  listen for less than two before it is tried. Of the waits that are good, Reflet has the one with
  the lowest peak. The figure for one agent is that of the slowest of 40.
- **Sizes**: the outage of 40 s was simulated with all 5,000 agents, that of 10 s with 1,000, the
  other tables with 200, and with servers that are as much slower. All counts are those of 5,000.
- **Other troubles** change one thing each. A handshake that its client has given up is worked at
  all the same, which is what keeps client-go from ever coming back where handshakes are slow, or
  everybody dials at once.
""",
    ),
    "resolution": Section(
        "Resolution",
        """\
What it costs to compute a container's environment and a pod's volumes from objects in hand, and
how long a person waits for `reflet env -f` from a cold start. The pod has 20 variables from five
objects.
""",
    ),
    "sidecar": Section(
        "The sidecar",
        """\
`reflet sidecar` next to kiwigrid/k8s-sidecar, which it replaces: the same variables, the same
objects, each a process of its own with a folder of its own. But for the start, in which they take
turns, both work at the same time on the same server. The original runs from its own source, with
the versions of its packages that it pins; a process that ends is started again a second later, as
a kubelet would. The development server speaks HTTP in clear here, the real kube-apiserver TLS.

- **Start to ready** is until `/healthz` says so, the start of Python included; every file is there
  then. Objects are ConfigMaps of 1 KiB; ConfigMaps and Secrets are watched.
- **From a write to its file** is from the moment at which the server has answered until the new
  content is in the file, seen by inotify. An event may overtake the answer: that counts as 0.
- **Reload calls**: every object is changed once, as fast as the server takes it, and the address
  that is asked to reload answers at once.
- **Torn reads**: a file of 264 kB is changed ten times a second, and somebody reads it all the
  time, as Grafana may. A read is torn when what it saw is no version of the file.
- **While nothing changes**: bytes as they travel, counted by a relay before the server; requests
  by the server, in its audit log, and for the development server by the relay.
- **Restarts**: the server is killed, one object is deleted and another one changed, and it comes
  back at the same address. When both have seen the change, the next round begins, some seconds
  after the last: to Reflet, whose pauses grow while a server keeps failing, that is one failure
  that lasts. Files that are left at the end of objects that are gone are missed deletions.
- **Silent connections**: what is sent over the connections of a sidecar arrives nowhere any more,
  as after the loss of a route, and an object is changed. New connections work.
  `WATCH_CLIENT_TIMEOUT=60` is set, as the chart of Loki does.
""",
    ),
    "start_up": Section(
        "Start-up",
        """\
What a program pays for importing Reflet and a person for a command, in processes of their own.
Milliseconds by the clock depend on what else runs; CPU time does so less. An import has no size
that could grow; a command that reads manifests has, and is in
[how cost grows](growth.md).
""",
    ),
    "wire": Section(
        "The wire",
        """\
Many watches and busy ones, on the real kube-apiserver and on a synthetic server, through Reflet's
two transports and others that were considered: the figures behind
[record 3](../adr/0003-wire.md).
""",
    ),
}
"""The benchmarks, whose pages are written from their results."""

GROWTH: Final = Section(
    "How cost grows",
    """\
The same jobs at three sizes, and the power of the size with which the cost grows: least squares
of the logarithm of the cost over that of the size. The figures are those of the last run of all
benchmarks together; a page of one benchmark may be of a later run of that one alone.
0 is a cost that does not depend on the size, 1 one in proportion to it; 2 would be one that is four
times as high for twice the size. Peers stand beside it where they do the same job; one that could
not do it has a line that says so.

- **What is done once** for a thing, an event, a read or a write's way to one reader, should be near
  0: it then costs the same, however much else is held or watched.
- **What is done for all** of them, a first list, the memory of a cache, a write that everybody is
  to hear of, cannot be below 1 for long, and should not be above.
- **What has a fixed part**, the memory of a process or a start, stays below 1 until the size
  outweighs it.
- **Requests by the length of a fault**: 1 is a steady pace, which without a pause between two
  requests is a hot loop. Who leaves a server that is not well alone for longer and longer is below.

Exponents come from medians, those of fan-outs from the best rounds; a busy machine moves them.
""",
)
"""The page over all benchmarks."""

"""What a cluster's controllers and kubelets would do, for the development server: ``--play``.

- ``play``: who plays, and a running play beside a server
- ``running_play``: one mirror for each resource, and a controller for each player
- ``cluster_view``: what the controllers know of the cluster
- ``rollouts``, ``pod_sets``, ``job_runs``: the controllers of workloads
- ``owned_pods``: what these share: pods made from a template, and which of them count
- ``scheduling``, ``pretend_nodes``, ``pod_lifecycle``: nodes, and what happens to pods on them
- ``pod_scripts``: what containers do, in a grammar of one line
- ``service_endpoints``: where the pods behind a Service are
- ``namespaces``, ``garbage_collector``: what namespaces are given, and what ends with its owner
- ``actions``: what a controller may do, as data, and the one place where it is done

Clients of the server like any other: informers, decisions as pure functions, and one place that
writes.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.play.play import Play
    from reflet.play.pod_scripts import Outcome
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.play.play": "Play",
        "reflet.play.pod_scripts": "Outcome",
    })

__all__ = ["Outcome", "Play"]

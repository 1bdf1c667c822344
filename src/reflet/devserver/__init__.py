"""A Kubernetes API in one process, for development and tests, never for production.

Good enough for kubectl and the usual clients: it stores, validates, patches and tells watchers,
and runs no controllers.  Everything runs on one event loop; storage calls are plain functions,
and so atomic.

What the API server makes of a document is ``reflet.apirules``; this is the server around it.
Neither shares anything with the clients that are tested against it but the meaning of values:
quantities, selectors and YAML (``reflet.api``) and Go's texts (``reflet.gotext``).  Those are held
to recorded answers of the Go code, or to the real server by the differential test, so a mistake in
them cannot hide by being on both sides.

- ``server``: the running server, with its authority, its kubeconfig and its data
- ``faults``: what goes wrong on request, and the record of what was asked
- ``http``: HTTP, TLS, discovery and OpenAPI, and the pages for tests
- ``request``: what a request asks for, and who asks
- ``verbs``: what each verb does
- ``authorization``: who may do what: nodes their own, everybody else everything
- ``admission``: who may change or refuse a write: webhooks
- ``patches``: from a patch to the new object, and who manages its fields
- ``printing``: JSON, YAML and the tables that ``kubectl get`` prints
- ``watches``: one watch, and all of them: the watch cache's side of the readers
- ``storage``: all objects with one counter of revisions, as in etcd, and the same in SQLite
- ``companion``: who lives beside a server and does what controllers would
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.devserver.faults import Action, Fault, Faults, RequestLog, SeenRequest
    from reflet.devserver.server import DevServer
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.devserver.faults": "Action Fault Faults RequestLog SeenRequest",
        "reflet.devserver.server": "DevServer",
    })

__all__ = ["Action", "DevServer", "Fault", "Faults", "RequestLog", "SeenRequest"]

"""Files that fill a board, as if they were just applied: what is there arrives, or is missing."""

from __future__ import annotations

from datetime import datetime

from msgspec import structs

from reflet.api.codec import encode
from reflet.api.core.pods import PodStatus
from reflet.api.unstructured import AnyObject
from reflet.insight.page.workload_page import PageOwner
from reflet.manifests.applying import read_applied
from reflet.manifests.files import Sources
from reflet.podconfig.gather_files import FILES_NAMESPACE, inputs_of_every_pod
from reflet.ui.board import Board


def board_of_files(sources: Sources, *, namespace: str, salt: bytes, now: datetime) -> Board:
    """Return the board of the pods, templates and objects in files.

    *namespace* is that of objects which name none, and leaves out pods of others.  Raises
    ConfigurationError and DecodeError for mistakes in files, or where there is no pod.
    """
    applied = read_applied(sources, namespace=namespace or FILES_NAMESPACE)
    title = ", ".join((*sources.paths, *sources.kustomizations)) or "files"
    board = Board(title, "files", salt=salt, began=now)
    for inputs in inputs_of_every_pod(applied, namespace=namespace, refused=True):
        name = PageOwner(inputs.kind, inputs.namespace, inputs.name)
        pod = structs.replace(
            inputs.pod,
            metadata=structs.replace(inputs.pod.metadata, name=inputs.name),
            status=PodStatus(phase="in files"),
        )
        board.put_pod("/".join(name), board.brief_pod(pod), of=name)
    for item in (*applied.config_maps(), *applied.secrets()):
        board.put_object(board.briefs(AnyObject(encode(item))), at=now)
    for refusal in applied.refusals:
        board.note(refusal.place, str(refusal))
    return board

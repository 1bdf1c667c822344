"""Who the files of a pod's volumes belong to.

Owns: the group of the volumes, and the user that all containers have in common.
Must not know which files there are.
"""

from reflet.api.pods import Pod
from reflet.resolution.places import containers_of


def fs_group(pod: Pod) -> int | None:
    """Return the group that owns the pod's volumes, if it asks for one."""
    context = pod.spec.security_context
    return None if context is None else context.fs_group


def common_user(pod: Pod) -> int | None:
    """Return the user that every container explicitly runs as, if it is one and the same."""
    context = pod.spec.security_context
    of_pod = None if context is None else context.run_as_user
    users: set[int | None] = set()
    for placed in containers_of(pod.spec):
        own = placed.container.security_context
        users.add(of_pod if own is None or own.run_as_user is None else own.run_as_user)
    return users.pop() if len(users) == 1 else None

"""One worker for each pod: from admission to the last trace of it.

Where pods come from (the sources themselves are ``reflet.pods``):

- ``manifest_defaults``: pods of files, with what the API server would have added
- ``binding``: unbound pods that a selector chooses, bound to this node
- ``configurations``: the pods that are registered, and what each of them gets

Who looks after them:

- ``workers``: one worker for each pod, orphans, and the factory that puts a worker together
- ``worker``: one pod's worker, which carries out verdicts
- ``pod_queue``: when it looks at its pod next: resync, back-off after a failed sync

What is decided, in pure code:

- ``sync``: the verdict on a pod, and the phases of its worker; active deadlines
- ``admission``: what a pod asks for and is not given, and whom its containers run as
- ``pod_actions``: which containers to start and to stop; init containers, sidecars, probes
- ``restart_policy``: restart policies, and in which state of its life a container is

What is done:

- ``sandboxes``: whether a pod needs another sandbox, and starting it
- ``starting``: starting a container, and how long a crash holds it back (CrashLoopBackOff)
- ``killing``: ending containers: grace period, preStop hooks, order
- ``dry_run``: what is done instead where nothing may be run
- ``volume_manager``: a pod's configuration, registered, written, refreshed and released
- ``pod_volumes``: the folders of a pod's volumes, and what a mount shows of them
- ``container_mounts``: where a container finds its volumes, and its root file system
- ``host_paths``: paths of this machine that pods may name
- ``reloads``: what a pod wants done when its configuration changes
"""

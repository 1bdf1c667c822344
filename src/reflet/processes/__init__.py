"""Processes: how one is started, watched, signalled, ended and reaped, and how one is a container.

- ``program``: what to run, and starting it
- ``child``: one that runs, from its start or adoption to its end
- ``exit_status``: how it ended
- ``crash_backoff``: when it may start again
- ``process_table``: who runs, which process a number means, and who may look into ours
- ``process_source``: what the table asks of a system; ``proc_files`` is Linux, and
  ``darwin_processes`` is macOS
- ``reaping``: orphans and zombies

In namespaces:

- ``container_plan``: what a container is
- ``container_start``: the fork, and what happens until the child is the command
- ``container_root``: its namespaces and its root file system
- ``isolation_check``: whether this machine allows that
- ``isolated_start``: a script that becomes the command of ``reflet run``, with mounts of its own

Knows no pods and no objects.  No environment and no argument of a command is ever logged or part of
an error: they hold expanded secrets.
"""

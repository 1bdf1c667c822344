"""Processes: how one is started, watched, signalled, ended and reaped.

Owns everything that the programs above need of the operating system's processes:
``program`` (what to run), ``child`` (one that runs), ``endings`` (how it ended),
``process_identity`` (which process a number means), ``process_table`` (what ``/proc`` says),
``reaping`` (orphans and zombies), ``crash_backoff`` (when to start again), ``inspection`` (who may
look into this process).  Must not know pods, objects or why something runs.  No environment and
no argument of a command is ever logged or part of an error: they hold expanded secrets.
"""

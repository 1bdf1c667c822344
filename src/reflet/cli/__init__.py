"""The command line, and nothing but it: flags in, words and exit codes out.

- ``main``: the entry points, the list of commands, errors to exit codes
- ``command``: help pages, with examples and flags in groups
- ``commands``: one module for each command, imported only when it is called
- ``options``: flags and arguments that commands share: which server, which pod, which files
- ``output``: what is printed: tables, documents, reports, with secrets masked
- ``lazy``: modules that are imported when a command runs, and not for its ``--help``
- ``stop_signals``: being told to stop
- ``event_loop``: the event loop of a command that asks a server
- ``machine_checks``: what ``reflet doctor`` looks at
- ``demo_story``: what ``reflet demo`` shows, about the objects of ``demo.yaml``

Only this package imports the command line library.
"""

"""The command line: one file a command, and what they share.

- ``main``: the entry points, the list of commands, errors to exit codes
- ``connection_options``: kubectl's flags that say which server, and as whom
- ``output``: tables, YAML, JSON and names
- ``masking``: no secret on a screen unless asked for
- one module for each command, imported only when it is called

Only this package imports the command line library.
"""

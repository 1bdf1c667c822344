"""One module for each command, under its name, imported only when the command is called.

They lie side by side, as kubectl's do in ``pkg/cmd``: whoever knows a command knows its file.
Which belong together, on the page of ``reflet --help``, says ``GROUPS`` in ``cli/main``.
"""

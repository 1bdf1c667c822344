"""What the reference takes from the code itself, as Markdown, so that it cannot drift.

- ``api_pages``: the names of the public rooms, with signatures, promises, fields and methods
- ``commands``: what ``--help`` of every command says
- ``docstrings``: docstrings as Markdown
- ``error_tree``: every error, and what each promises
- ``kubeconfig_fields``: which fields of a kubeconfig are read
- ``lint_rules``: what ``reflet lint`` finds
- ``metrics``: every number that Reflet reports
- ``reference_rows``: who names and who makes ConfigMaps and Secrets
- ``sidecar_table``: every variable of the sidecar
- ``state_diagram``: the states of the reflector, kept in its page
- ``rooms``: which rooms are public, and where their names are defined
- ``terminal_svg``: what a terminal shows, as a still or moving picture
- ``recording``: the moving picture of ``reflet demo``, ``why`` and the page
- ``why_picture``: the picture of a run of ``reflet why``
- ``__main__``: writes all of it into the pages: ``make reference``
"""

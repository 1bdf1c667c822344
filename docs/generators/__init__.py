"""Pages that are generated while the documentation is built, so that they cannot drift.

- ``commands``: what ``--help`` of every command says
- ``metrics``: every number that Reflet reports
- ``error_tree``: every error, and what each promises
- ``public_names``: the names of the front page, and the modules behind it
- ``kubeconfig_fields``: which fields of a kubeconfig are read
- ``lint_rules``: what ``reflet lint`` finds
- ``state_diagram``: the states of the reflector, kept in its page
- ``directives``: the door through which Sphinx asks for them

Each writes Markdown from the code itself.  Only ``directives`` knows Sphinx.
"""

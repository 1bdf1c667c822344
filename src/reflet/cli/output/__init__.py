"""What commands print, with secrets masked.

- ``output``: tables, paragraphs, messages, YAML and JSON
- ``palette``: which meaning has which colour, and whether there are any
- ``masking``: what a secret looks like on a screen
- ``problem_output``, ``progress``: what is said on stderr
- ``environment_output``, ``explain_output``, ``why_output``, ``lint_output``, ``diff_output``,
  ``stale_output``, ``runtime_output``: results, for people and for programs
- ``server_objects``: objects as a server has them, for programs
- ``lint_excerpts``: the line of a finding, with carets
- ``lint_exchange``: findings of lint in the forms of other tools
- ``volume_files``: a pod's files, listed, written and kept fresh
- ``change_output``, ``following``, ``stale_watching``: changes, as they come
"""

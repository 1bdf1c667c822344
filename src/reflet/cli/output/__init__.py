"""What commands print, with secrets masked.

- ``output``: tables, paragraphs, YAML and JSON
- ``masking``: what a secret looks like on a screen
- ``problem_output``, ``progress``: what is said on stderr
- ``environment_output``, ``explain_output``, ``why_output``, ``lint_output``: results, for people
  and for programs
- ``lint_exchange``: findings of lint in the forms of other tools
- ``volume_files``: a pod's files, listed, written and kept fresh
- ``change_output``, ``following``: changes, as they come
"""

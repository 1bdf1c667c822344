"""Making a release: ``python -m tools.release VERSION``; RELEASING.md says when and how.

- ``steps``: the release, step by step, and its dry run
- ``changelog``: the changelog's Unreleased section becomes that of a version
- ``archive``: the single-file archive for machines without Python, by PyInstaller
- ``program``: what is in that archive: ``reflet``, and its modules by name
- ``trial``: every way to install it, gone once
- ``commands``: running other programs
- ``manifests``: how krew and Homebrew install what was made
"""

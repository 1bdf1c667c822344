"""Names of files on the command line, which a shell can complete.

Owns: that Tab behind such an option offers files.  What is typed stays the text it is, because
``-`` and names of files that do not exist yet are good as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Text = click.ParamType[str]
else:
    Text = click.ParamType  # older versions of click have no types here


class FileName(Text):
    """A text that names a file or folder."""

    name = "file"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's shape
        param: click.Parameter,  # noqa: ARG002 - the same
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Leave it to the shell, which knows its files."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only behind Tab

        return [CompletionItem(incomplete, type="file")]


FILE_NAME: Final = FileName()

"""The flag of every command that says what it assumes before it answers: how much of that."""

from __future__ import annotations

import click

verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Show every remark and warning, not only a few."
)
"""Gives a command ``verbose``, for ``problem_output.tell_few``."""

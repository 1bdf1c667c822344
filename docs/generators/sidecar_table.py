"""The variables of the sidecar, from the table that reads them."""

from __future__ import annotations

from reflet.sidecar.sidecar_variables import ORIGINAL, VARIABLES


def markdown(whose: str) -> str:
    """List the variables: ``original`` for those of k8s-sidecar, ``own`` for the others."""
    lines = ["| variable | flag | default | meaning |", "|---|---|---|---|"]
    for name, variable in VARIABLES.items():
        if (name in ORIGINAL) == (whose == "original"):
            flag = f"`{variable.flag}`" if variable.on_command_line else ""
            lines.append(
                f"| `{name}` | {flag} | {variable.shown_default or 'needed'} | {variable.about} |"
            )
    return "\n".join(lines)

"""What kustomize and Helm make of a folder or chart, by the user's own programs on PATH.

Nothing is rendered here: ``kubectl kustomize`` or ``kustomize build``, and ``helm template``, are
run, and what they complain about is told.  A rendered object's place is the file that it was made
from, as far as its maker says, followed by ``(rendered)``; lines are those of the rendered text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from reflet.errors import ConfigurationError
from reflet.manifests.files import HelmChart, Sources, SourceText

RENDERED: Final = " (rendered)"
"""What stands behind the name of a file that was not read as it is."""

KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_SOURCE: Final = re.compile(rb"^# Source: ([^\n\r]+)\r?$", re.MULTILINE)
_COMPLAINT: Final = re.compile(r"^error:.*", re.MULTILINE | re.IGNORECASE | re.DOTALL)
_MOST_TOLD: Final = 400  # characters of a program's complaint


def rendered_texts(sources: Sources, *, namespace: str = "") -> Iterator[SourceText]:
    """Yield what kustomize and Helm make of the folders and charts.

    ``namespace`` is told to Helm, whose templates may write it down.  Raises ConfigurationError,
    with the program's own words, when it fails or is not there.
    """
    for folder in sources.kustomizations:
        content = _output(*_kustomize(folder))
        yield SourceText(f"{kustomization_of(folder) or folder}{RENDERED}", content)
    for chart in sources.charts:
        yield from _chart_texts(chart, _output(*_helm(chart, namespace)))


def kustomization_of(folder: str) -> str:
    """Return the kustomization file of a folder; empty where there is none."""
    for name in KUSTOMIZATIONS:
        path = Path(folder) / name
        if path.is_file():
            return str(path)
    return ""


def _kustomize(folder: str) -> tuple[str, list[str]]:
    if Path(folder).exists() and not kustomization_of(folder):
        raise ConfigurationError(f"-k {folder}: no {KUSTOMIZATIONS[0]} there; -f reads plain files")
    from shutil import which  # noqa: PLC0415 - see _output

    target = _argument(folder)
    kustomize, kubectl = which("kustomize"), which("kubectl")
    if kustomize:
        return f"kustomize build {folder}", [kustomize, "build", target]
    if kubectl:
        return f"kubectl kustomize {folder}", [kubectl, "kustomize", target]
    raise ConfigurationError(f"kustomization {folder} needs kustomize or kubectl on PATH")


def _helm(chart: HelmChart, namespace: str) -> tuple[str, list[str]]:
    from shutil import which  # noqa: PLC0415 - see _output

    helm = which("helm")
    if not helm:
        raise ConfigurationError(f"chart {chart.chart} needs helm on PATH")
    command = [helm, "template", "--include-crds"]
    command += [f"--namespace={namespace}"] if namespace else []
    command += [f"--values={file}" for file in chart.values]
    command += [f"--set={setting}" for setting in chart.settings]
    return f"helm template {chart.chart}", [*command, _argument(chart.chart)]


def _argument(text: str) -> str:
    """Keep a name that begins with a dash from being read as a flag."""
    return f"./{text}" if text.startswith("-") else text


def _output(said: str, command: Sequence[str]) -> bytes:
    # Slow to import, and most commands render nothing.
    import subprocess  # noqa: PLC0415

    try:
        done = subprocess.run(  # noqa: S603 - the user's own program, and no shell
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise ConfigurationError(f"{said} could not be started: {error.strerror}") from error
    if done.returncode:
        complaint = done.stderr.decode(errors="replace")
        # Notes come before it: Helm's of each link that it followed would leave no room for it.
        if found := _COMPLAINT.search(complaint):
            complaint = found[0]
        words = " ".join(complaint.split()) or "it said nothing"
        if len(words) > _MOST_TOLD:
            words = f"{words[:_MOST_TOLD]}…"
        raise ConfigurationError(f"{said} failed with exit code {done.returncode}: {words}")
    return done.stdout


def _chart_texts(chart: HelmChart, content: bytes) -> Iterator[SourceText]:
    """Cut what Helm made where it says which template follows."""
    marks = [*_SOURCE.finditer(content)]
    if not marks:
        yield SourceText(f"{chart.chart}{RENDERED}", content)
        return
    ends = [mark.start() for mark in marks[1:]] + [len(content)]
    texts: dict[str, list[bytes]] = {}
    for mark, end in zip(marks, ends, strict=True):
        # The first part is the chart's own name, which need not be that of its folder.
        _, _, below = mark[1].decode(errors="replace").partition("/")
        texts.setdefault(below, []).append(content[mark.start() : end])
    local = Path(chart.chart).is_dir()
    for below, parts in texts.items():
        name = str(Path(chart.chart) / below) if local else f"{chart.chart} {below}"
        # A template's documents are apart by what Helm writes before each.
        yield SourceText(f"{name}{RENDERED}", b"\n---\n".join(parts))

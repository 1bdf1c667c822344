"""Runs the kubectl of this machine against a development server, with a home of its own.

Nothing of the user's is read or written: neither kubeconfig nor cache.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from reflet.errors import RefletError

PROGRAM: Final = "kubectl"
PATIENCE: Final = 60.0  # seconds for one command


class KubectlFailed(RefletError):
    """kubectl has ended with another exit code than 0; its message is what kubectl said.

    - *result*: exit code and output
    """

    def __init__(self, result: KubectlResult) -> None:
        self.result = result
        said = result.stderr.strip() or result.stdout.strip() or "it said nothing"
        super().__init__(f"{result.command} ended with {result.code}: {said}")


@dataclass(frozen=True, slots=True)
class KubectlResult:
    """What a command has printed.

    - *command*: what was run
    - *code*: exit code
    - *stdout*, *stderr*: what it printed
    """

    command: str
    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """Read what was printed as JSON, after ``-o json``."""
        return json.loads(self.stdout)


@final
class Kubectl:
    """Runs one command a call; raises KubectlFailed unless ``check`` is false.

    *home* is a folder for its cache and settings.  ``stdin`` is what ``-f -`` reads: text, or an
    object.

    - *kubeconfig*: the kubeconfig it uses
    """

    def __init__(self, kubeconfig: Path, home: Path) -> None:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("KUBE")
        }
        self._environment = {
            **inherited,
            "HOME": str(home),
            "KUBECONFIG": str(kubeconfig),
            "KUBECACHEDIR": str(home / "cache"),
        }

    def __call__(
        self, *arguments: str, stdin: str | Mapping[str, Any] = "", check: bool = True
    ) -> KubectlResult:
        """Run a command, as ``kubectl("get", "pods", "-o", "json").json()``."""
        finished = subprocess.run(  # noqa: S603 - what the test says
            [PROGRAM, *arguments],
            input=stdin if isinstance(stdin, str) else json.dumps(stdin),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env=self._environment,
        )
        command = " ".join((PROGRAM, *arguments))
        result = KubectlResult(command, finished.returncode, finished.stdout, finished.stderr)
        if check and result.code:
            raise KubectlFailed(result)
        return result

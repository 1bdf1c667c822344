"""kubectl as a scene of a real API server calls it: to its end, or left running."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from tests.node_scenes import PATIENCE


class KubectlCalls:
    """Calls with the variables of a scene, which name its kubeconfig."""

    _environment: Mapping[str, str]

    def kubectl(self, *arguments: str, given: str = "") -> str:
        """Run kubectl, which succeeds, and return what it prints."""
        done = self.called(*arguments, given=given)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def called(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run kubectl to its end."""
        return subprocess.run(
            ["kubectl", *arguments],
            input=given,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def followed(self, *arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
        """Start kubectl, and leave it running."""
        return subprocess.Popen(
            ["kubectl", *arguments],
            env=self._environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

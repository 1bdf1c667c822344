"""Two real API servers on one etcd: one that goes away and comes back, and one that stays.

Owns: the second server, and the moment in which the first one stops.  Must not know who watches.
"""

from __future__ import annotations

import http.client
import os
import signal
import ssl
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from tests.real.api_connection import ApiConnection
from tests.real.kube_server import HOST, NOT_YET, KubeServer, reserve_port

FIRST: Final = "kube-apiserver"
SECOND: Final = "kube-apiserver-that-stays"


class TwoServers(KubeServer):
    """The first server is the ``KubeServer`` itself; the flags of *api_server_flags* are its own.

    The second is at ``second_url`` from ``start`` on.
    """

    second_url: str

    def start(self) -> None:
        """Start both; return when both are ready."""
        super().start()
        try:
            reserved = self._closing.enter_context(closing(reserve_port()))
            self._second_port = reserved.getsockname()[1]
            self.second_url = f"https://{HOST}:{self._second_port}"
            self._closing.callback(self._stop_process, SECOND)
            self._start_process(SECOND, self._second_command())
            self._wait_until("the second API server is ready", self._second_is_ready)
        except BaseException:
            self.stop()
            raise

    def freeze(self) -> None:
        """Stop the first server in its tracks: connections stay, and nothing goes over them."""
        os.kill(self.process_ids[FIRST], signal.SIGSTOP)

    def crash(self) -> None:
        """Kill the first server: connections break, and its address refuses new ones."""
        self.stop_apiserver(patience=0)

    def _second_command(self) -> Sequence[str]:
        shared = [
            flag
            for flag in self._apiserver_command()
            if flag not in self._api_server_flags and not flag.startswith("--secure-port=")
        ]
        return [*shared, f"--secure-port={self._second_port}"]

    def _second_is_ready(self) -> bool:
        tls = ssl.create_default_context(cafile=str(self.ca_file))
        token = self.tokens["admin"]
        try:
            with ApiConnection(HOST, self._second_port, tls=tls, token=token) as connection:
                return connection.request("GET", "/readyz").code == http.client.OK
        except NOT_YET:
            return False

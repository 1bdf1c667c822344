from __future__ import annotations

from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeStatus


def test_the_newest_container_of_a_name_is_found() -> None:
    newest = RuntimeContainerStatus(id="2", name="web")
    status = RuntimeStatus(
        uid="p", containers=(newest, RuntimeContainerStatus(id="1", name="web", exit_code=1))
    )

    assert status.container("web") is newest


def test_a_container_that_is_not_there_is_not_found() -> None:
    status = RuntimeStatus(uid="p", containers=(RuntimeContainerStatus(id="1", name="web"),))

    assert status.container("database") is None

import msgspec

from reflet.api.core.pod_status import ContainerState, PodStatus
from reflet.api.reading import reader


def test_a_status_keeps_addresses_and_container_states() -> None:
    text = (
        b'{"observedGeneration":1,"phase":"Running","conditions":[{"type":"Ready","status":"True",'
        b'"lastTransitionTime":"2026-01-02T03:04:05Z"}],"hostIP":"10.0.0.1",'
        b'"hostIPs":[{"ip":"10.0.0.1"}],"podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}],'
        b'"startTime":"2026-01-02T03:04:05Z","containerStatuses":[{"name":"web",'
        b'"state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}},"lastState":{"terminated":'
        b'{"exitCode":137,"reason":"OOMKilled","containerID":"x://1"}},"ready":true,'
        b'"restartCount":1,"image":"i","imageID":"d","containerID":"x://2","started":true}],'
        b'"qosClass":"Burstable"}'
    )

    assert msgspec.json.encode(reader(PodStatus).read(text)) == text


def test_a_probe_time_that_was_never_set_is_null() -> None:
    status = reader(PodStatus).read(b'{"conditions":[{"type":"Ready","lastProbeTime":null}]}')

    assert status.conditions[0].last_probe_time is None


def test_an_empty_waiting_state_is_still_a_waiting_state() -> None:
    assert reader(ContainerState).read(b'{"waiting":{}}').waiting is not None

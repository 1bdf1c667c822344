from reflet.api.codec import decode, encode
from reflet.api.core.nodes import Node


def test_a_node_keeps_what_the_downward_api_and_status_need() -> None:
    text = (
        b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0.0/24",'
        b'"podCIDRs":["10.0.0.0/24"],"providerID":"p","unschedulable":true,"taints":[{"key":"k",'
        b'"effect":"NoSchedule"}]},"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"3900m"},'
        b'"conditions":[{"type":"Ready","status":"True",'
        b'"lastHeartbeatTime":"2026-01-02T03:04:05Z"}],"addresses":[{"type":"InternalIP",'
        b'"address":"10.0.0.1"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},'
        b'"nodeInfo":{"machineID":"m","systemUUID":"s","bootID":"b","osImage":"o"}}}'
    )

    assert encode(decode(text, Node)) == text

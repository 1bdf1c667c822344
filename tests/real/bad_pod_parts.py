"""Pods, jobs, sets and services that are refused for what few of them say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.devserver_objects import (
    APPS,
    BATCH,
    CORE,
    Case,
    container,
    cron_job,
    job,
    pod,
    service,
    workload,
)
from tests.real.good_pod_parts import PREFERRED, REQUIRED


def bad_pod_parts() -> Iterator[Case]:
    """Yield what is refused, part by part."""
    yield from _bad_places()
    yield from _bad_security()
    yield from _bad_names()
    yield from _bad_boxes()
    yield from _bad_jobs()
    yield from _bad_schedules()
    yield from _bad_sets()
    yield from _bad_traffic()


def _pod(title: str, **spec: Any) -> Case:
    return title, f"{CORE}/pods", pod(**spec)


def _bad_places() -> Iterator[Case]:
    term = {"matchExpressions": [{"key": "a b", "operator": "Near"}]}
    nodes = {REQUIRED: {"nodeSelectorTerms": [term]}, PREFERRED: [{"weight": 101}]}
    yield _pod("bad nodes", affinity={"nodeAffinity": nodes})
    selector = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}
    odd = {
        "labelSelector": selector,
        "namespaces": ["N_"],
        "matchLabelKeys": ["a", "c d"],
        "mismatchLabelKeys": ["a"],
    }
    yield _pod("bad neighbours", affinity={"podAffinity": {REQUIRED: [odd, {}]}})
    weighted = {"weight": 0, "podAffinityTerm": {"matchLabelKeys": ["a"], "topologyKey": "a b"}}
    yield _pod("bad wishes", affinity={"podAntiAffinity": {PREFERRED: [weighted]}})
    constraints = [
        {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Perhaps", "minDomains": 0},
        {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 1},
        {
            "maxSkew": 1,
            "topologyKey": "a",
            "whenUnsatisfiable": "ScheduleAnyway",
            "nodeAffinityPolicy": "Look",
            "nodeTaintsPolicy": "Look",
            "labelSelector": {"matchLabels": {"a b": "c"}},
        },
    ]
    yield _pod("bad spreading", topologySpreadConstraints=constraints)
    gates = [{"name": "a b"}, {"name": "c"}, {"name": "c"}]
    yield _pod("bad gates", schedulingGates=gates, readinessGates=[{"conditionType": "a b"}])
    yield _pod("gates and a node", schedulingGates=gates[1:2], nodeName="n")
    yield _pod("own priority", priority=7)
    yield _pod("own preemption", preemptionPolicy="Never")


def _bad_security() -> Iterator[Case]:
    def case(title: str, own: Any = None, /, **security: Any) -> Case:
        boxes = [container(securityContext=own or {})]
        return _pod(title, securityContext=security, containers=boxes)

    sysctls = [{"name": ""}, {"name": "A b"}, {"name": "a.b"}, {"name": "a.b"}]
    yield case("bad kernel settings", sysctls=sysctls)
    shared = {"hostNetwork": True, "hostIPC": True}
    yield _pod(
        "kernel settings of the host",
        securityContext={"sysctls": [{"name": "net/a.b/c"}, {"name": "kernel.shmmax"}]},
        **shared,
    )
    for policy in ("fsGroupChangePolicy", "supplementalGroupsPolicy", "seLinuxChangePolicy"):
        yield case(f"bad {policy}", **{policy: "Sometimes"})
    profiles: list[Any] = [
        {},
        {"type": "Own"},
        {"type": "Localhost"},
        {"type": "Localhost", "localhostProfile": "/a/../b"},
        {"type": "Localhost", "localhostProfile": " "},
        {"type": "Unconfined", "localhostProfile": "a"},
    ]
    for number, profile in enumerate(profiles):
        both = {"seccompProfile": profile, "appArmorProfile": profile}
        yield case(f"bad profiles {number}", both, **both)
    users = ("", "a\tb", "a\\b\\c", "\\", "a*b\\c", "...", "a" * 105, "a@b")
    for number, user in enumerate(users):
        yield case(f"bad user of Windows {number}", windowsOptions={"runAsUserName": user})
    odd = {"gmsaCredentialSpecName": "A_", "gmsaCredentialSpec": ""}
    yield case("bad credentials of Windows", {"windowsOptions": odd}, windowsOptions=odd)
    yield _pod("shared processes", shareProcessNamespace=True, hostPID=True)
    yield case("bare mount", {"procMount": "Unmasked"})
    yield _pod("own users", hostUsers=False, hostPID=True, hostIPC=True)
    yield _pod("no system", os={"name": ""})
    yield _pod("unknown system", os={"name": "plan9"})
    windows = {"windowsOptions": {"runAsUserName": "a"}}
    yield _pod("Windows on Linux", os={"name": "linux"}, securityContext=windows)
    linux = {"runAsUser": 1, "fsGroup": 1, "seccompProfile": {"type": "Unconfined"}}
    boxes = [container(securityContext={"capabilities": {"drop": ["ALL"]}, "runAsUser": 1})]
    yield _pod(
        "Linux on Windows",
        os={"name": "windows"},
        securityContext=linux,
        containers=boxes,
        hostPID=True,
    )


def _bad_names() -> Iterator[Case]:
    yield _pod("no DNS at all", dnsPolicy="None")
    yield _pod("no name server", dnsPolicy="None", dnsConfig={"searches": ["a"]})
    searches = ["A_", *(f"s{number}" for number in range(32))]
    settings = {"nameservers": ["x", "1.1.1.1", "01.1.1.1", "::"], "options": [{}]}
    yield _pod("bad DNS", dnsConfig=settings | {"searches": searches})
    yield _pod("long DNS", dnsConfig={"searches": ["a" * 254] * 9})
    yield _pod("bad aliases", hostAliases=[{"ip": "010.1.1.1", "hostnames": ["A_"]}])
    yield _pod("bad name of the host", hostnameOverride="A" * 65, setHostnameAsFQDN=True)
    yield _pod("bad overhead", overhead={"cpu": "-1"})


def _bad_boxes() -> Iterator[Case]:
    def case(title: str, /, **fields: Any) -> Case:
        volumes = [{"name": "v", "emptyDir": {}}]
        return _pod(title, containers=[container(**fields)], volumes=volumes)

    mounts = [
        {"name": "v", "mountPath": "/a", "mountPropagation": "Up"},
        {"name": "v", "mountPath": "/b", "mountPropagation": "Bidirectional"},
        {"name": "v", "mountPath": "/c", "recursiveReadOnly": "Perhaps"},
        {"name": "v", "mountPath": "/d", "recursiveReadOnly": "Enabled"},
    ]
    yield case("bad mounts", volumeMounts=mounts)
    devices = [{"name": "v", "devicePath": "/a"}, {}, {"name": "x", "devicePath": "../a"}]
    yield case("bad devices", volumeMounts=mounts[:1], volumeDevices=devices)
    yield case("bad claims of a container", resources={"claims": [{"name": ""}, {"name": "x"}]})
    policies = [
        {"resourceName": "cpu", "restartPolicy": "Perhaps"},
        {"resourceName": "cpu", "restartPolicy": "NotRequired"},
        {"resourceName": "disk", "restartPolicy": "NotRequired"},
    ]
    yield case("bad resize policies", resizePolicy=policies)
    rules = [{"action": "Sing"}, {"action": "Restart", "exitCodes": {"operator": "Near"}}]
    yield case("bad restarts", restartPolicy="Perhaps", restartPolicyRules=rules)
    yield case("restarts without a policy", restartPolicyRules=rules[1:])
    yield case("long sleep", lifecycle={"preStop": {"sleep": {"seconds": 31}}})
    reference = {"volumeName": "x", "path": "../a", "key": "a=b"}
    variable = {"name": "A", "valueFrom": {"fileKeyRef": reference}}
    yield case("bad file of variables", env=[variable])
    pages = {"hugepages-2Mi": "3Mi", "memory": "1Gi"}
    yield case("half a page", resources={"limits": pages})
    claims = [
        {"name": ""},
        {"name": "a"},
        {"name": "a", "resourceClaimName": "A_", "resourceClaimTemplateName": "t"},
    ]
    yield _pod("bad claims", resourceClaims=claims)
    small = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    box = container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "3"}})
    yield _pod("a small pod", resources=small, containers=[box])
    yield _pod("a pod of disks", resources={"limits": {"ephemeral-storage": "1Gi"}})
    init = container(name="i", resizePolicy=[policies[0] | {"restartPolicy": "RestartContainer"}])
    yield _pod("an init container resized", initContainers=[init])


def _bad_jobs() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        return f"job {title}", f"{BATCH}/jobs", job(**spec)

    indexed = {"completionMode": "Indexed", "completions": 3}
    numbers = {"backoffLimitPerIndex": -1, "maxFailedIndexes": -1, "managedBy": ""}
    yield case("of bad numbers", **indexed, **numbers)
    yield case("of too many failures", **indexed, maxFailedIndexes=4)
    yield case("without indexes", backoffLimitPerIndex=1, maxFailedIndexes=1, successPolicy={})
    many = {"completions": 100_001, "parallelism": 100_001, "completionMode": "Indexed"}
    yield case("of many indexes", **many, backoffLimitPerIndex=1)
    for manager in ("a", "/a", "a/", "A_/b", "a.b/c d", f"a.b/{'c' * 60}"):
        yield case(f"of {manager}", managedBy=manager)
    rules = [
        {},
        {"action": "Sing", "onExitCodes": {}, "onPodConditions": [{"type": "a b"}]},
        {
            "action": "FailIndex",
            "onExitCodes": {"containerName": "x", "operator": "In", "values": [3, 0, 3]},
        },
        {"action": "Count", "onPodConditions": [{"type": "a", "status": "Perhaps"}]},
    ]
    yield case("of bad failures", podFailurePolicy={"rules": rules}, podReplacementPolicy="X")
    yield case("replaced badly", podReplacementPolicy="Sometimes")
    indexes = ("a", "0-1-2", "7", "1-0", "2,1", "0-9", "1-a", "")
    for number, text in enumerate(indexes):
        rule = {"succeededIndexes": text, "succeededCount": 1}
        yield case(f"of bad indexes {number}", **indexed, successPolicy={"rules": [rule]})
    yield case("of no success", **indexed, successPolicy={"rules": []})
    yield case("of bad success", **indexed, successPolicy={"rules": [{}, {"succeededCount": 9}]})
    long = job(**indexed) | {"metadata": {"name": "a" * 63}}
    yield "job of a long name", f"{BATCH}/jobs", long


def _bad_schedules() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        return f"cron job {title}", f"{BATCH}/cronjobs", cron_job(**spec)

    schedules = (
        *("60 * * * *", "* * 0 * *", "5-1 * * * *", "*/0 * * * *", "a * * * *", "1-2-3 * * * *"),
        *("1/2/3 * * * *", "* * * FOO *", "* * * * 7", "@now", "@every x", "-1 * * * *"),
        *("TZ=UTC * * * * *", f"{'9' * 30} * * * *"),
    )
    for number, schedule in enumerate(schedules):
        if "x" not in schedule:  # Go's words about durations are its own
            yield case(f"at a bad time {number}", schedule=schedule)
    for zone in ("", "Local", "Nowhere/City", "../UTC", "a b"):
        yield case(f"in {zone or 'no zone'}", timeZone=zone)
    inner = cron_job()["spec"]["jobTemplate"]["spec"]
    selected = {"selector": {"matchLabels": {"a": "b"}}, "manualSelector": True}
    yield case("with a selector", jobTemplate={"spec": inner | selected})


def _bad_sets() -> Iterator[Case]:
    def stateful(title: str, /, **spec: Any) -> Case:
        return f"stateful set {title}", f"{APPS}/statefulsets", workload("StatefulSet", **spec)

    def daemon(title: str, /, **strategy: Any) -> Case:
        body = workload("DaemonSet", updateStrategy=strategy)
        return f"daemon set {title}", f"{APPS}/daemonsets", body

    rolling = {"partition": -1}
    yield stateful("rolled badly", updateStrategy={"type": "Never", "rollingUpdate": rolling})
    yield stateful("rolled back", updateStrategy={"rollingUpdate": rolling})
    by_hand = {"type": "OnDelete", "rollingUpdate": {"partition": 1}}
    yield stateful("rolled by hand", updateStrategy=by_hand)
    yield stateful("of bad ordinals", ordinals={"start": -1}, podManagementPolicy="Random")
    kept = {"whenDeleted": "Burn", "whenScaled": "Burn"}
    yield stateful("of bad claims", persistentVolumeClaimRetentionPolicy=kept)
    yield daemon("rolled badly", type="Never", rollingUpdate={"maxUnavailable": 1})
    for number, (away, more) in enumerate(((0, 0), (1, 1), ("150%", 0), (0, "150%"), (-1, "x"))):
        shares = {"maxUnavailable": away, "maxSurge": more}
        yield daemon(f"of bad shares {number}", type="RollingUpdate", rollingUpdate=shares)


def _bad_traffic() -> Iterator[Case]:
    def case(title: str, /, **spec: Any) -> Case:
        return f"service {title}", f"{CORE}/services", service(ports=[{"port": 80}], **spec)

    yield case("of bad families", ipFamilies=["IPv4", "IPv4", "IPX"], ipFamilyPolicy="Both")
    yield case("of another family", ipFamilies=["IPv6"])
    yield case("of two families", ipFamilies=["IPv4", "IPv6"])
    yield case("that needs two families", ipFamilyPolicy="RequireDualStack")
    yield case("of addresses alone", clusterIPs=["10.0.0.77"])
    yield case("of another address", clusterIP="10.0.0.77", clusterIPs=["10.0.0.78"])
    yield case("with and without address", clusterIP="None", clusterIPs=["None", "10.0.0.7"])
    yield case("with a wrong family", clusterIP="10.0.0.77", ipFamilies=["IPv6"])
    yield case("of bad traffic", trafficDistribution="Fair", internalTrafficPolicy="X")
    ranges = {"loadBalancerSourceRanges": ["10.0.0.0/8", "x", "10.0.0.1/8"]}
    yield case("of bad ranges", type="LoadBalancer", loadBalancerClass="a b", **ranges)
    yield case("of ranges alone", loadBalancerClass="a.b/c", **ranges)
    yield case("with a health check", healthCheckNodePort=30001)
    yield case("at bad places", externalIPs=["127.0.0.1", "010.1.1.1", "0.0.0.0"])
    affinity = {"clientIP": {"timeoutSeconds": 5}}
    yield case("without affinity", sessionAffinityConfig=affinity)

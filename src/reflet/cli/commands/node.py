"""``reflet node``: the kubelet's part, for processes."""

from __future__ import annotations

import dataclasses
import grp
import ipaddress
import logging
import os
import pwd
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reflet.cli import lazy
from reflet.cli.command import command, connection_option
from reflet.cli.options.arguments import host_and_port

if TYPE_CHECKING:
    import asyncio

    from reflet.node.agent import NodeAgent
    from reflet.node.options import CriOptions, NodeOptions, SecurePort
    from reflet.node.pods.admission import IdGrants, RunAs
    from reflet.transport.config.settings import ConnectionSettings

STRATEGIES = ("watch", "auto", "cache", "get")
LONGEST_NAME = 63  # the name is a label of the Node, too
NO_ISOLATION = """\
WARNING: --no-isolation: containers are plain processes of this machine.  Everybody who may create a
  pod can read every file that the pod's user can read, see and signal that user's processes,
  those of other pods included, and leave processes behind that outlive the pod.
  If that user is the agent's own, this includes the agent's token and every Secret that it may
  read."""


@command(
    examples={
        "reflet node": "write the files of the pods on this node; run nothing",
        "reflet node --run --user nobody": "run their containers as processes",
        "reflet node --pods-from pods/ --run --no-register": "run the manifests of a folder",
    }
)
@click.option("--name", default="", help="Name of the node.  [default: the host's name]")
@click.option(
    "--pods-from",
    default="api",
    show_default=True,
    metavar="api|DIR",
    help="The pods bound to the node, or those of a folder of manifests.",
)
@click.option(
    "-l", "--selector", default="", help="Also bind and run unbound pods with these labels."
)
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="watch",
    show_default=True,
    help="How ConfigMaps and Secrets are kept fresh.",
)
@click.option(
    "--run",
    "run_commands",
    is_flag=True,
    help="Run the commands of containers; without it, none run.",
)
@click.option(
    "--user",
    default="",
    metavar="USER[:GROUP]",
    help="User for containers without runAsUser; required with --run as root.",
)
@click.option(
    "--allow-users",
    multiple=True,
    metavar="RANGE|USER",
    help="More users that pods may name, each with its group, as 5000-5999; a range never includes "
    "a user of this machine; repeatable.",
)
@click.option(
    "--allow-groups",
    multiple=True,
    metavar="RANGE|GROUP",
    help="More groups that pods may name; a range never includes a group of this machine; "
    "repeatable.",
)
@click.option(
    "--allow-host-path",
    "host_paths",
    multiple=True,
    type=click.Path(file_okay=True, path_type=Path),
    help="Let pods use this path of the machine; repeatable.",
)
@click.option(
    "--isolation/--no-isolation",
    default=True,
    show_default=True,
    help="Give containers their own namespaces and file system; without, they see what their user "
    "sees on this machine.",
)
@click.option(
    "--share",
    multiple=True,
    metavar="PATH[:rw]",
    help="Path of this machine that containers see, read-only unless :rw; repeatable.  "
    "'none' leaves out /usr, /etc/ssl and the like, which are shared otherwise.",
)
@click.option(
    "--runtime",
    type=click.Choice(("process", "cri")),
    default="process",
    show_default=True,
    help="What runs containers: processes of this machine, or a container runtime by CRI.",
)
@click.option(
    "--runtime-endpoint",
    default="",
    metavar="unix://PATH",
    help="Socket of the container runtime.  [default: that of containerd, CRI-O or cri-dockerd]",
)
@click.option(
    "--image-service-endpoint",
    default="",
    metavar="unix://PATH",
    help="Socket of the image service.  [default: --runtime-endpoint]",
)
@click.option(
    "--cluster-dns",
    multiple=True,
    metavar="IP",
    help="DNS server of the cluster, for --runtime cri; repeatable.",
)
@click.option(
    "--cluster-domain",
    default="cluster.local",
    show_default=True,
    metavar="DOMAIN",
    help="DNS domain of the cluster.",
)
@click.option("-n", "--namespace", "namespaces", multiple=True, help="Only its pods; repeatable.")
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where everything is kept.  [default: /var/lib/reflet, or ~/.local/state/reflet]",
)
@click.option(
    "--health-address",
    default="127.0.0.1:10248",
    show_default=True,
    metavar="HOST:PORT|none",
    help="Where /livez, /readyz, /metrics and, on loopback without TLS, logs are answered in plain "
    "HTTP; port 0 takes a free one.",
)
@click.option(
    "--tls-cert-file",
    default="",
    metavar="FILE",
    help="Certificate, and its chain, for answering over TLS at --secure-address.",
)
@click.option("--tls-private-key-file", default="", metavar="FILE", help="Key of the certificate.")
@click.option(
    "--client-ca-file",
    default="",
    metavar="FILE",
    help="CAs whose client certificates are accepted; never a public CA.",
)
@click.option(
    "--secure-address",
    default="",
    metavar="HOST:PORT",
    help="Where everything is served over TLS, to clients that the API server authorizes.  "
    "[default: 0.0.0.0:10250, with a certificate]",
)
@click.option(
    "--ui",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Show a live page of this node at this port of 127.0.0.1; 0 takes a free one.",
)
@click.option("--node-address", default="", metavar="IP", help="Address of the node and its pods.")
@click.option(
    "--register/--no-register",
    default=True,
    show_default=True,
    help="Register as a Node on the server.",
)
@click.option(
    "--when-stopped",
    type=click.Choice(("end", "keep")),
    default="end",
    show_default=True,
    help="Containers when this ends: end them, or keep them running for the next agent.",
)
@click.option(
    "--skip-invalid-names",
    is_flag=True,
    help="Skip keys that cannot be names of variables, with an event, as Kubernetes 1.19 did.",
)
@click.option(
    "--log-format", type=click.Choice(("text", "json")), default="text", show_default=True
)
@click.option("--log-level", type=click.Choice(("debug", "info", "warning")), default="info")
@connection_option("--kubeconfig", default="", metavar="FILE", help="Kubeconfig file to use.")
@connection_option("--context", default="", help="Kubeconfig context to use.")
@connection_option("-s", "--server", default="", metavar="URL", help="Address of the API server.")
@connection_option(
    "--certificate-authority", default="", metavar="FILE", help="File with the CA's certificates."
)
def node(log_format: str, log_level: str, **given: Any) -> None:
    """Run the pods of a node as processes, as a kubelet does.

    Each pod's environment and volumes are resolved, and its files are written and updated when an
    object changes.  With --run, the commands of its containers are started as processes of this
    machine: init containers in order, restarts with back-off, grace periods.  Status and events
    are reported to the API server.

    With --run, everybody who may create pods for this node may run commands on this machine.
    There are no images: a container has its own namespaces and file system, made from this
    machine's programs and the pod's volumes, but neither network nor limits of its own.
    With --runtime cri, a container runtime runs the pods, with images, networks and limits.
    """
    options = _options(given)
    # What is wrong with them is said before anything is done.
    options.allowance()
    if options.secure is not None:
        lazy.serving_certificates.ServingCertificates(options.secure).check()
    handler = logging.StreamHandler()
    forms = lazy.structured_logs
    handler.setFormatter(forms.JsonFormatter() if log_format == "json" else forms.PlainFormatter())
    logging.basicConfig(level=log_level.upper(), handlers=[handler])
    # Containers may be of the same user as this process, which has a token for their Secrets.
    lazy.process_table.refuse_inspection()
    lazy.event_loop.run(_run(_settings(given), options))


def _options(given: dict[str, Any]) -> NodeOptions:
    pods_from: str = given["pods_from"]
    if pods_from != "api" and not Path(pods_from).is_dir():
        raise click.UsageError(f"--pods-from {pods_from}: neither 'api' nor a folder")
    return lazy.node_options.NodeOptions(
        name=_name(given["name"] or socket.gethostname().lower()),
        root=(given["root"] or lazy.node_options.usual_root(os.geteuid(), os.environ)).absolute(),
        pods_from=pods_from,
        strategy=given["strategy"],
        run=given["run_commands"] or given["runtime"] == "cri",
        runtime=_runtime(given),
        user=_user(given["user"]),
        grants=_grants(given["allow_users"], given["allow_groups"]),
        host_paths=tuple(str(path.absolute()) for path in given["host_paths"]),
        isolation=given["isolation"],
        share=given["share"],
        namespaces=frozenset(given["namespaces"]),
        selector=_selector(given["selector"]),
        address=_address(given["node_address"]),
        health=_health(given["health_address"]),
        secure=_secure(given),
        ui=given["ui"],
        register=given["register"],
        keep_running=given["when_stopped"] == "keep",
        skip_invalid_names=given["skip_invalid_names"],
    )


PROCESS_FLAGS = {
    "user": "--user",
    "allow_users": "--allow-users",
    "allow_groups": "--allow-groups",
    "share": "--share",
}
CRI_FLAGS = {
    "runtime_endpoint": "--runtime-endpoint",
    "image_service_endpoint": "--image-service-endpoint",
    "cluster_dns": "--cluster-dns",
}


def _runtime(given: dict[str, Any]) -> CriOptions | None:
    """What runs containers; None for processes."""
    is_cri = given["runtime"] == "cri"
    unfit = PROCESS_FLAGS if is_cri else CRI_FLAGS
    for name, flag in unfit.items():
        if given[name]:
            other = "process" if is_cri else "cri"
            raise click.UsageError(f"{flag}: only with --runtime {other}")
    if not is_cri:
        return None
    if not given["isolation"]:
        raise click.UsageError("--no-isolation: only with --runtime process")
    endpoints = lazy.endpoints
    setting = CRI_FLAGS["runtime_endpoint"]
    endpoint = given["runtime_endpoint"] or endpoints.find_endpoint(setting=setting)
    endpoints.socket_path(endpoint, setting=setting)
    if given["image_service_endpoint"]:
        setting = CRI_FLAGS["image_service_endpoint"]
        endpoints.socket_path(given["image_service_endpoint"], setting=setting)
    return lazy.node_options.CriOptions(
        endpoint=endpoint,
        image_endpoint=given["image_service_endpoint"],
        cluster_dns=tuple(_ip(each, "--cluster-dns") for each in given["cluster_dns"]),
        cluster_domain=given["cluster_domain"].strip("."),
    )


def _name(text: str) -> str:
    part = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    if len(text) > LONGEST_NAME or not re.fullmatch(rf"{part}(\.{part})*", text):
        raise click.UsageError(
            f"--name: {text!r} is no name for a node: lower case letters, digits, '-' and '.', "
            f"at most {LONGEST_NAME} of them, with a letter or digit first and last"
        )
    return text


def _selector(text: str) -> str:
    lazy.labels.LabelSelector.parse(text)
    return text


def _user(text: str) -> RunAs | None:
    if not text:
        return None
    user, _, group = text.partition(":")
    try:
        entry = pwd.getpwuid(int(user)) if user.isdecimal() else pwd.getpwnam(user)
        number, usual = entry.pw_uid, entry.pw_gid
    except KeyError:
        if not user.isdecimal():
            raise click.UsageError(f"--user: there is no user {user!r} here") from None
        number = usual = int(user)
    if not group:
        return lazy.admission.RunAs(number, usual)
    try:
        return lazy.admission.RunAs(
            number, int(group) if group.isdecimal() else grp.getgrnam(group).gr_gid
        )
    except KeyError:
        raise click.UsageError(f"--user: there is no group {group!r} here") from None


def _grants(users: tuple[str, ...], groups: tuple[str, ...]) -> IdGrants:
    accounts = lazy.node_options.read_accounts(users, groups)
    return lazy.admission.grants_of(users, groups, accounts)


def _address(text: str) -> str:
    return _ip(text, "--node-address") if text else text


def _ip(text: str, flag: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise click.UsageError(f"{flag}: {text!r} is no IP address") from None
    return text


def _health(text: str) -> tuple[str, int] | None:
    return None if text == "none" else host_and_port(text, "--health-address", ", nor 'none'")


def _secure(given: dict[str, Any]) -> SecurePort | None:
    certificate, key = given["tls_cert_file"], given["tls_private_key_file"]
    authority, place = given["client_ca_file"], given["secure_address"]
    if certificate and key:
        settings: dict[str, Any] = {"certificate": Path(certificate), "key": Path(key)}
        if authority:
            settings["client_ca"] = Path(authority)
        if place:
            settings["place"] = host_and_port(place, "--secure-address")
        return lazy.node_options.SecurePort(**settings)
    if certificate:
        raise click.UsageError("--tls-cert-file: --tls-private-key-file is missing")
    if key:
        raise click.UsageError("--tls-private-key-file: --tls-cert-file is missing")
    if authority or place:
        flag = "--client-ca-file" if authority else "--secure-address"
        raise click.UsageError(f"{flag}: --tls-cert-file and --tls-private-key-file are missing")
    return None


def _settings(given: dict[str, Any]) -> ConnectionSettings:
    names = ("kubeconfig", "context", "server", "certificate_authority")
    return lazy.cluster.settings_from(
        lazy.kubeconfig.Overrides(**{name: given[name] for name in names}, typed=True)
    )


async def _run(settings: ConnectionSettings, options: NodeOptions) -> None:
    lazy.descriptors.raise_descriptor_limit(lazy.descriptors.PLENTY)
    stopped = lazy.asyncio.Event()
    lazy.stop_signals.when_told_to_stop(lambda _: stopped.set())
    # A node asks in bursts, when many pods come, and the server protects itself.
    async with (
        lazy.cluster.Cluster(dataclasses.replace(settings, qps=0)) as cluster,
        lazy.node_agent.NodeAgent(cluster, options) as agent,
    ):
        _introduce(agent)
        await _end_of(agent, stopped)
        click.echo("stopping", err=True)


async def _end_of(agent: NodeAgent, stopped: asyncio.Event) -> None:
    """Return when the agent is told to stop; raise when it cannot go on."""
    ends = {
        lazy.asyncio.create_task(stopped.wait(), name="told to stop"),
        lazy.asyncio.create_task(agent.refused(), name="refused"),
        lazy.asyncio.create_task(agent.ended(), name="ended"),
    }
    try:
        done, _ = await lazy.asyncio.wait(ends, return_when=lazy.asyncio.FIRST_COMPLETED)
    finally:
        for end in ends:
            end.cancel()
    for end in done:
        end.result()


def _introduce(agent: NodeAgent) -> None:
    options = agent.options
    click.echo(f"node {options.name}, kept in {options.root}")
    if not options.run:
        click.echo("no commands are run without --run: volumes and variables are written")
    elif not options.isolation:
        click.echo(NO_ISOLATION, err=True)
    if agent.health_url:
        click.echo(f"health at {agent.health_url}/readyz?verbose")
    if agent.secure_url:
        click.echo(f"logs over TLS at {agent.secure_url}")
    if agent.page is not None:
        click.echo(f"page at {agent.page.url}, its token in {agent.page.token_file}")

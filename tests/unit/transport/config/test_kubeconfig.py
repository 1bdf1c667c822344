import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import Pem
from reflet.transport.config.in_cluster import SERVICE_ACCOUNT_DIRECTORY
from reflet.transport.config.kubeconfig import Overrides, resolve_settings
from reflet.transport.config.settings import ConnectionSettings

KUBECTL = shutil.which("kubectl")
CONFIG = """
current-context: shop
clusters:
- name: prod
  cluster: {server: "https://prod:6443", certificate-authority: ca.crt, tls-server-name: api}
- name: test
  cluster:
    server: https://test:6443/prefix/
    insecure-skip-tls-verify: true
    disable-compression: true
    proxy-url: http://proxy:3128
users:
- name: alice
  user: {token: alice-token}
- name: bob
  user: {username: bob, password: pw, as: carol, as-groups: [dev], as-user-extra: {k: [v]}}
contexts:
- name: shop
  context: {cluster: prod, user: alice, namespace: shop}
- name: lab
  context: {cluster: test, user: bob}
- name: nobody
  context: {cluster: prod}
- name: broken-cluster
  context: {cluster: gone, user: alice}
- name: broken-user
  context: {cluster: prod, user: gone}
- name: namespace-only
  context: {namespace: elsewhere}
"""
IN_POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


class Scene:
    """A home folder, a pod's file system and an environment, all empty at first."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = folder / "root"
        self.config = self.home / ".kube" / "config"
        self.environ: dict[str, str] = {}

    def write(self, text: str, path: Path | None = None) -> Path:
        path = path or self.config
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def in_pod(self) -> None:
        directory = self.root / SERVICE_ACCOUNT_DIRECTORY
        for name, text in (("token", "pod-token"), ("ca.crt", "ca"), ("namespace", "pod-ns")):
            self.write(text, directory / name)
        self.environ |= IN_POD

    def resolve(self, **flags: object) -> ConnectionSettings:
        overrides = Overrides(**{"typed": True, **flags})  # type: ignore[arg-type]  # the tests' own keywords
        return resolve_settings(overrides, self.environ, self.home, root=self.root)

    def failure(self, **flags: object) -> str:
        with pytest.raises(ConfigurationError) as caught:
            self.resolve(**flags)
        message = str(caught.value)
        assert "\n" not in message
        return message


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def home_scene(scene: Scene) -> Scene:
    scene.write(CONFIG)
    return scene


async def test_the_current_context_of_the_home_folder_is_the_default(home_scene: Scene) -> None:
    settings = home_scene.resolve()

    assert settings.server == "https://prod:6443"
    assert settings.namespace == "shop"
    assert settings.tls_server_name == "api"
    assert settings.certificate_authority == Pem(
        f'certificate-authority of cluster "prod" in {home_scene.config}',
        path=home_scene.config.parent / "ca.crt",
    )
    assert await settings.credentials.headers() == {"authorization": "Bearer alice-token"}
    assert settings.request_timeout is None
    assert settings.impersonation is None


def test_every_field_of_a_cluster_arrives(home_scene: Scene) -> None:
    settings = home_scene.resolve(context="lab")

    assert settings.server == "https://test:6443/prefix"
    assert settings.insecure
    assert settings.disable_compression
    assert settings.proxy_url == "http://proxy:3128"
    assert settings.namespace == "default"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("flag", "https://flag"),
        ("variable", "https://variable"),
        ("home", "https://home"),
        ("pod", "https://10.96.0.1:443"),
    ],
)
def test_flag_before_variable_before_home_before_pod(
    where: str, expected: str, scene: Scene, tmp_path: Path
) -> None:
    def config(name: str) -> str:
        return (
            f"current-context: c\nclusters: [{{name: c, cluster: {{server: 'https://{name}'}}}}]\n"
            "contexts: [{name: c, context: {cluster: c}}]"
        )

    places = ("flag", "variable", "home", "pod")
    flags: dict[str, object] = {}
    for place in places[places.index(where) :]:
        match place:
            case "flag":
                flags["kubeconfig"] = str(scene.write(config("flag"), tmp_path / "flagged"))
            case "variable":
                file = scene.write(config("variable"), tmp_path / "listed")
                scene.environ["KUBECONFIG"] = f"{tmp_path / 'absent'}{os.pathsep}{file}"
            case "home":
                scene.write(config("home"))
            case _:
                scene.in_pod()

    assert scene.resolve(**flags).server == expected


def test_a_kubeconfig_may_come_through_a_pipe(scene: Scene) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, CONFIG.encode())
    os.close(write_end)

    settings = scene.resolve(kubeconfig=f"/dev/fd/{read_end}")
    os.close(read_end)

    assert settings.server == "https://prod:6443"


def test_flags_choose_cluster_user_and_namespace(home_scene: Scene) -> None:
    settings = home_scene.resolve(cluster="test", user="alice", namespace="mine")

    assert settings.server == "https://test:6443/prefix"
    assert settings.namespace == "mine"


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
@pytest.mark.parametrize("context", ["", "shop", "lab", "nobody"])
def test_a_context_means_what_it_means_to_kubectl(context: str, home_scene: Scene) -> None:
    assert KUBECTL is not None
    done = subprocess.run(
        [KUBECTL, "config", "view", "--minify", "--raw", "-o", "json", f"--context={context}"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home_scene.home),
            "KUBECONFIG": str(home_scene.config),
        },
        capture_output=True,
        check=True,
    )
    viewed = json.loads(done.stdout)

    settings = home_scene.resolve(context=context)

    assert settings.server == viewed["clusters"][0]["cluster"]["server"].rstrip("/")
    assert settings.namespace == viewed["contexts"][0]["context"].get("namespace", "default")


def test_a_server_flag_needs_no_file_and_no_pod(scene: Scene) -> None:
    scene.in_pod()

    assert scene.resolve(server="https://[::1]:6443").server == "https://[::1]:6443"


def test_a_server_flag_forgets_the_files_server_name(home_scene: Scene) -> None:
    assert home_scene.resolve(server="https://other").tls_server_name == ""
    assert home_scene.resolve(tls_server_name="given").tls_server_name == "given"


def test_flags_about_trust_replace_all_of_the_file(home_scene: Scene) -> None:
    trusting = home_scene.resolve(insecure_skip_tls_verify=True)
    strict = home_scene.resolve(context="lab", certificate_authority="mine.crt")

    assert (trusting.insecure, trusting.certificate_authority) == (True, None)
    assert not strict.insecure
    assert strict.certificate_authority == Pem("--certificate-authority", path=Path("mine.crt"))


async def test_a_token_flag_wins_over_everything_the_user_has(home_scene: Scene) -> None:
    home_scene.write(
        CONFIG.replace("token: alice-token", "tokenFile: t, username: u, exec: {command: x}")
    )

    settings = home_scene.resolve(token="typed")

    assert await settings.credentials.headers() == {"authorization": "Bearer typed"}


def test_impersonation_flags_win_one_by_one(home_scene: Scene) -> None:
    impersonation = home_scene.resolve(context="lab", as_user="dave", as_uid="7").impersonation

    assert impersonation is not None
    assert impersonation.headers() == (
        ("impersonate-user", "dave"),
        ("impersonate-uid", "7"),
        ("impersonate-group", "dev"),
        ("impersonate-extra-k", "v"),
    )


async def test_over_plain_http_nothing_secret_is_sent(home_scene: Scene) -> None:
    settings = home_scene.resolve(server="http://127.0.0.1:8001", token="typed", as_user="bob")

    assert await settings.credentials.headers() == {}
    assert settings.client_certificate is None
    assert settings.certificate_authority is None
    assert settings.impersonation is not None


def test_a_request_timeout_is_seconds(home_scene: Scene) -> None:
    assert home_scene.resolve(request_timeout="1m").request_timeout == 60.0
    assert home_scene.resolve(request_timeout="0").request_timeout is None
    assert home_scene.failure(request_timeout="soon").startswith("--request-timeout soon: ")


@pytest.mark.parametrize(
    ("environ", "context", "proxy"),
    [
        ({"HTTPS_PROXY": "proxy:1"}, "shop", "http://proxy:1"),
        ({"HTTPS_PROXY": "proxy:1", "NO_PROXY": "prod"}, "shop", ""),
        ({"HTTPS_PROXY": "proxy:1"}, "lab", "http://proxy:3128"),
    ],
)
def test_the_environments_proxy_counts_when_the_file_has_none(
    environ: Mapping[str, str], context: str, proxy: str, home_scene: Scene
) -> None:
    home_scene.environ |= environ

    assert home_scene.resolve(context=context).proxy_url == proxy


def test_a_bad_proxy_is_told_by_where_it_was_set(home_scene: Scene) -> None:
    home_scene.environ["HTTPS_PROXY"] = "socks5://me:secret@proxy"

    assert home_scene.failure() == (
        "HTTPS_PROXY: 'socks5' is not supported: use an http or https proxy"
    )


async def test_in_a_pod_the_flags_still_count(scene: Scene) -> None:
    scene.in_pod()
    plain = scene.resolve()
    changed = scene.resolve(
        token="typed", namespace="mine", as_user="bob", tls_server_name="api",
        insecure_skip_tls_verify=True,
    )  # fmt: skip

    assert plain.namespace == "pod-ns"
    assert await plain.credentials.headers() == {"authorization": "Bearer pod-token"}
    assert await changed.credentials.headers() == {"authorization": "Bearer typed"}
    assert (changed.namespace, changed.tls_server_name) == ("mine", "api")
    assert (changed.insecure, changed.certificate_authority) == (True, None)
    assert changed.impersonation is not None


def test_in_a_pod_a_context_may_name_just_the_namespace(home_scene: Scene) -> None:
    home_scene.in_pod()

    settings = home_scene.resolve(context="namespace-only")

    assert settings.server == "https://10.96.0.1:443"
    assert settings.namespace == "elsewhere"


def test_in_a_pod_a_context_without_a_namespace_means_the_pods(home_scene: Scene) -> None:
    home_scene.in_pod()

    settings = home_scene.resolve(context="lab")

    assert settings.server == "https://test:6443/prefix"
    assert settings.namespace == "pod-ns"


def test_no_configuration_at_all_names_every_place(scene: Scene) -> None:
    assert scene.failure() == (
        "no cluster is configured: --kubeconfig is not given; KUBECONFIG is not set; "
        f"{scene.config} does not exist; not in a pod: KUBERNETES_SERVICE_HOST is not set"
    )


def test_no_configuration_in_a_list_of_files_names_each(scene: Scene, tmp_path: Path) -> None:
    empty = scene.write("", tmp_path / "empty")
    scene.environ["KUBECONFIG"] = f"{tmp_path / 'absent'}{os.pathsep}{empty}"

    assert scene.failure() == (
        "no cluster is configured: --kubeconfig is not given; "
        f"KUBECONFIG: {tmp_path / 'absent'} does not exist; KUBECONFIG: {empty} has no context; "
        "not in a pod: KUBERNETES_SERVICE_HOST is not set"
    )


def test_a_flagged_file_must_exist_but_a_listed_one_need_not(scene: Scene) -> None:
    assert scene.failure(kubeconfig="nope") == "--kubeconfig nope: no such file"
    scene.in_pod()
    scene.environ["KUBECONFIG"] = "nope"

    assert scene.resolve().server == "https://10.96.0.1:443"


ALL_CONTEXTS = "broken-cluster, broken-user, lab, namespace-only, nobody, shop"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            {"context": "typo"},
            f'--context: no context "typo" in FILE; contexts there: {ALL_CONTEXTS}',
        ),
        ({"cluster": "typo"}, '--cluster: no cluster "typo" in FILE; clusters there: prod, test'),
        ({"user": "typo"}, '--user: no user "typo" in FILE; users there: alice, bob'),
        (
            {"context": "broken-cluster"},
            ('context "broken-cluster" in FILE: no cluster "gone" in FILE; '
            "clusters there: prod, test"),
        ),
        (
            {"context": "broken-user"},
            'context "broken-user" in FILE: no user "gone" in FILE; users there: alice, bob',
        ),
        (
            {"context": "namespace-only"},
            ('context "namespace-only" in FILE names no cluster: add one, or give --cluster '
            "or --server"),
        ),
        (
            {"certificate_authority": "ca", "insecure_skip_tls_verify": True},
            ("--certificate-authority and --insecure-skip-tls-verify exclude each other: "
            "give one of them"),
        ),
        ({"server": "https://"}, "--server: not a URL with a host, like https://10.0.0.1:6443"),
        ({"token": "two words"}, "--token is not a token: it cannot be sent"),
        (
            {"as_groups": ("dev",)},
            "impersonating a uid, group or extra needs a user as well: give --as",
        ),
    ],
)  # fmt: skip
def test_a_flag_that_is_wrong_is_told(
    flags: dict[str, object], words: str, home_scene: Scene
) -> None:
    assert home_scene.failure(**flags) == words.replace("FILE", str(home_scene.config))


@pytest.mark.parametrize(
    ("written", "instead", "words"),
    [
        (
            "current-context: shop",
            "current-context: typo",
            f'current-context: no context "typo" in FILE; contexts there: {ALL_CONTEXTS}',
        ),
        (
            "current-context: shop",
            "",
            f"current-context is not set in FILE: give --context, one of {ALL_CONTEXTS}",
        ),
        (
            'server: "https://prod:6443", ',
            "",
            'server of cluster "prod" in FILE is missing: add it, or give --server',
        ),
        (
            "https://prod:6443",
            "https://prod:port",
            'server of cluster "prod" in FILE: not a URL: check host and port',
        ),
        (
            "certificate-authority: ca.crt",
            "certificate-authority: ca.crt, insecure-skip-tls-verify: true",
            ('certificate-authority of cluster "prod" in FILE is set together with '
            "insecure-skip-tls-verify: remove one of them"),
        ),
        (
            "certificate-authority: ca.crt",
            "certificate-authority: ca.crt, certificate-authority-data: QQ==",
            ('certificate-authority of cluster "prod" in FILE and certificate-authority-data '
            "are both set: keep one"),
        ),
        (
            "certificate-authority: ca.crt",
            "proxy-url: 'ftp://me:secret@proxy'",
            ("proxy-url of cluster \"prod\" in FILE: 'ftp' is not supported: "
            "use an http or https proxy"),
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_told_with_the_field(
    written: str, instead: str, words: str, scene: Scene
) -> None:
    assert written in CONFIG
    scene.write(CONFIG.replace(written, instead))

    assert scene.failure() == words.replace("FILE", str(scene.config))


def test_the_token_is_not_in_the_repr_of_the_flags() -> None:
    assert "hidden" not in repr(Overrides(token="hidden"))

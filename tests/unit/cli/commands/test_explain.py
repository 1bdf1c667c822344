"""``reflet explain``: every variable and file of a pod as a tree."""

from __future__ import annotations

from tests.unit.cli.shop_files import SHOP, OnFiles, config_map, pod

TREE = """\
deployment/web in shop
├─ init container setup
│    no variables
├─ container web
│  ├─ LOG_LEVEL = debug
│  │    from the pod itself
│  │    shadows info, from key LOG_LEVEL of ConfigMap settings, by envFrom
│  │    a change makes a new pod
│  ├─ SHOP = main
│  │    from key SHOP of ConfigMap settings, by envFrom
│  │    a change needs a restart
│  ├─ motd = welcome
│  │    from key motd of ConfigMap settings, by envFrom
│  │    a change needs a restart
│  ├─ DB_PASSWORD = ‹secret 6 B›
│  │    from key PASSWORD of Secret database, by envFrom with prefix DB_
│  │    a change needs a restart
│  ├─ DB_USER = ‹secret 4 B›
│  │    from key USER of Secret database, by envFrom with prefix DB_
│  │    a change needs a restart
│  ├─ DB_URL = ‹secret 30 B›
│  │    from the pod itself: postgres://$(DB_USER):$(DB_PASSWORD)@db/$(SHOP)
│  │    $(DB_USER) is ‹secret 4 B›, from key USER of Secret database
│  │    $(DB_PASSWORD) is ‹secret 6 B›, from key PASSWORD of Secret database
│  │    $(SHOP) is main, from key SHOP of ConfigMap settings
│  │    a change needs a restart
│  └─ POD_IP = ‹not known yet›
│       from field status.podIP of the pod
│       warning: status.podIP is not known: the pod has no address yet
│       a change needs a restart
├─ container sidecar
│    no variables
├─ volume config
│  ├─ LOG_LEVEL, mode 0644, 4 B
│  │    from key LOG_LEVEL of ConfigMap settings
│  │    container web sees /etc/shop/LOG_LEVEL; a change needs no restart
│  ├─ SHOP, mode 0644, 4 B
│  │    from key SHOP of ConfigMap settings
│  │    container web sees /etc/shop/SHOP; a change needs no restart
│  └─ motd, mode 0644, 7 B
│       from key motd of ConfigMap settings
│       container web sees /etc/shop/motd; a change needs no restart
│       container web sees /etc/motd; never follows a change: it is mounted by
│         subPath
└─ volume keys
   ├─ db/password, mode 0400, 6 B
   │    from key PASSWORD of Secret database
   │    container sidecar sees /keys/db/password; a change needs no restart
   └─ token, mode 0644, not known yet
        from token of default
        container sidecar sees /keys/token; a change needs no restart
"""


def test_the_tree_shows_values_sources_shadows_expansions_and_what_a_change_needs(
    on_files: OnFiles,
) -> None:
    shown = on_files(SHOP, "explain", "deploy/web")

    assert (shown.code, shown.output) == (0, TREE)
    assert max(map(len, shown.output.splitlines())) <= 80


def test_values_of_secrets_are_revealed_when_asked_for(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "explain", "--reveal")

    assert "DB_URL = postgres://shop:geheim@db/main\n" in shown.output


def test_one_container_is_explained_with_the_volumes_it_mounts(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "explain", "-c", "sidecar")

    assert [line for line in shown.output.splitlines() if line[0] in "├└"] == [
        "├─ container sidecar",
        "└─ volume keys",
    ]


def test_what_would_not_start_is_told_where_it_is(on_files: OnFiles) -> None:
    text = pod(
        "env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: b}}}]",
        "  volumes: [{name: files, configMap: {name: missing}}]\n" + config_map("{a: x}"),
    )

    shown = on_files(text, "explain")

    assert shown.code == 1
    assert shown.output == (
        "pod/web in default\n"
        "├─ container web\n"
        "│  │ would not start: couldn't find key b in ConfigMap default/settings\n"
        "│  └─ A is not set\n"
        "│       error: ConfigMap default/settings has no key b; it has a\n"
        "└─ volume files\n"
        '     would not be set up: configmap "missing" not found\n'
        "     error: ConfigMap default/missing does not exist\n"
        "     no files\n"
    )


def test_an_unknown_container_is_answered_with_the_names(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "explain", "-c", "wbe")

    assert (shown.code, shown.output) == (2, "")
    assert "it has setup, web, sidecar" in shown.errors


def test_variables_of_services_are_one_branch_unless_they_are_asked_for(on_files: OnFiles) -> None:
    service = (
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: db}\n"
        "spec: {clusterIP: 10.96.0.7, ports: [{port: 5432}]}\n"
    )
    text = pod("env: [{name: A, value: b}]", service).replace("Links: false", "Links: true")

    assert on_files(text, "explain").output == (
        "pod/web in default\n"
        "└─ container web\n"
        "   ├─ A = b\n"
        "   │    from the pod itself\n"
        "   │    a change makes a new pod\n"
        "   └─ 7 variables of 1 service\n"
        "        see --services\n"
    )
    assert "DB_PORT = tcp://10.96.0.7:5432" in on_files(text, "explain", "--services").output
    assert "DB_PORT" in on_files(text, "explain", "-o", "json").output

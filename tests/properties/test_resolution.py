"""What holds for every environment and every volume, whatever the pod asks for."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.containers import (
    ConfigMapEnvSource,
    ConfigMapKeySelector,
    Container,
    EnvFromSource,
    EnvVar,
    EnvVarSource,
    FileKeySelector,
    ObjectFieldSelector,
    SecretEnvSource,
    SecretKeySelector,
)
from reflet.api.core.pods import Pod, PodSpec
from reflet.api.core.services import Service, ServicePort, ServiceSpec
from reflet.api.core.volumes import (
    KeyToPath,
    ProjectedVolumeSource,
    SecretProjection,
    SecretVolumeSource,
    ServiceAccountTokenProjection,
    Volume,
    VolumeProjection,
)
from reflet.api.meta import ObjectMeta
from reflet.resolution.environment.env_files import MountedVolume
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.environment.expansion import expand, references_in
from reflet.resolution.environment.service_variables import services_for, variables_of
from reflet.resolution.environment.variables import Assignment, Environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.origins import (
    ConfigMapOrigin,
    SecretOrigin,
    ServiceOrigin,
    ValueOrigin,
)
from reflet.resolution.volumes.volume_contents import resolve_volume

NAMESPACE = "shop"
NAMES = st.sampled_from(["A", "B", "C", "DB_SERVICE_HOST", "DB_PORT", "KUBERNETES_PORT"])
OBJECT_NAMES = st.sampled_from(["one", "two", "gone"])
TEMPLATES = st.lists(
    st.sampled_from(["$", "$$", "(", ")", "$(A)", "$(B)", "$(DB_PORT)", "$(X)", "x", "é", "$(A"]),
    max_size=6,
).map("".join)
MARK = "hunter"


def oracle(text: str, lookup: Callable[[str], str | None]) -> str:
    """Expand one character after the other, as the table of the specification says."""
    written, position = "", 0
    while position < len(text):
        following = text[position + 1 : position + 2]
        closing = text.find(")", position + 2)
        if text[position] != "$" or not following:
            written, position = written + text[position], position + 1
        elif following == "$":
            written, position = written + "$", position + 2
        elif following == "(" and closing >= 0:
            name = text[position + 2 : closing]
            value = lookup(name)
            written += f"$({name})" if value is None else value
            position = closing + 1
        else:
            written, position = written + text[position : position + 2], position + 2
    return written


TEXTS = TEMPLATES | st.text("$()AB ", max_size=20) | st.text(max_size=20)
VARIABLES = st.dictionaries(st.text("AB$( ", max_size=3), st.text("$()A", max_size=4))


@given(TEXTS, VARIABLES)
def test_expansion_follows_the_table_of_the_specification(
    text: str, variables: dict[str, str]
) -> None:
    assert expand(text, variables.get) == oracle(text, variables.get)


@given(TEXTS)
def test_every_text_can_be_escaped(text: str) -> None:
    assert expand(text.replace("$", "$$"), lambda _: None) == text


@given(TEXTS, VARIABLES)
def test_expanding_the_literals_of_an_expansion_again_changes_nothing(
    text: str, variables: dict[str, str]
) -> None:
    literals = expand(text, variables.get).replace("$", "")

    assert expand(literals, variables.get) == literals


@given(TEXTS, VARIABLES)
def test_an_expansion_looks_up_only_what_the_text_refers_to(
    text: str, variables: dict[str, str]
) -> None:
    asked: list[str] = []

    def lookup(name: str) -> str | None:
        asked.append(name)
        return variables.get(name)

    expand(text, lookup)

    assert tuple(asked) == references_in(text)


def config_map(name: str, data: dict[str, str]) -> ConfigMap:
    metadata = ObjectMeta(namespace=NAMESPACE, name=name, resource_version=f"c-{name}")
    return ConfigMap(metadata=metadata, data=data)


def secret(name: str, data: dict[str, bytes]) -> Secret:
    metadata = ObjectMeta(namespace=NAMESPACE, name=name, resource_version=f"s-{name}")
    return Secret(metadata=metadata, data=data)


SECRET_BYTES = st.binary(max_size=4).map(lambda tail: MARK.encode() + tail + MARK.encode())
CONFIG_MAPS = st.fixed_dictionaries(
    {name: st.dictionaries(NAMES, TEMPLATES, max_size=3) for name in ("one", "two")}
).map(lambda found: [config_map(name, data) for name, data in found.items()])
SECRETS = st.fixed_dictionaries(
    {name: st.dictionaries(NAMES, SECRET_BYTES, max_size=3) for name in ("one", "two")}
).map(lambda found: [secret(name, data) for name, data in found.items()])
PREFIXES = st.sampled_from(["", "A", "P_"])
ENV_FROM = st.builds(
    EnvFromSource,
    prefix=PREFIXES,
    config_map_ref=st.builds(ConfigMapEnvSource, name=OBJECT_NAMES, optional=st.booleans()),
) | st.builds(
    EnvFromSource,
    prefix=PREFIXES,
    secret_ref=st.builds(SecretEnvSource, name=OBJECT_NAMES, optional=st.booleans()),
)
KEYS = {"name": OBJECT_NAMES, "key": NAMES, "optional": st.booleans()}
FIELDS = st.sampled_from(["metadata.name", "metadata.uid", "status.phase", "status.podIP"])
SOURCES = st.one_of(
    st.builds(EnvVarSource, config_map_key_ref=st.builds(ConfigMapKeySelector, **KEYS)),
    st.builds(EnvVarSource, secret_key_ref=st.builds(SecretKeySelector, **KEYS)),
    st.builds(
        EnvVarSource,
        field_ref=st.builds(ObjectFieldSelector, api_version=st.just("v1"), field_path=FIELDS),
    ),
    st.builds(
        EnvVarSource,
        file_key_ref=st.builds(
            FileKeySelector,
            volume_name=st.sampled_from(["files", "gone"]),
            path=st.sampled_from(["good", "bad", "gone"]),
            key=st.sampled_from(["A", "B"]),
            optional=st.booleans(),
        ),
    ),
)
ENV = st.builds(EnvVar, name=NAMES, value=TEMPLATES) | st.builds(
    EnvVar, name=NAMES, value_from=SOURCES
)
SERVICES = [
    Service(
        metadata=ObjectMeta(namespace=namespace, name=name, resource_version=f"v-{name}"),
        spec=ServiceSpec(cluster_ip="10.96.0.1", ports=(ServicePort(port=80),)),
    )
    for namespace, name in (("default", "kubernetes"), (NAMESPACE, "db"))
]
PODS = st.builds(
    lambda env_from, env, links: Pod(
        metadata=ObjectMeta(namespace=NAMESPACE, name="web-0"),
        spec=PodSpec(
            enable_service_links=links,
            containers=(Container(name="web", env_from=tuple(env_from), env=tuple(env)),),
        ),
    ),
    st.lists(ENV_FROM, max_size=3),
    st.lists(ENV, max_size=5),
    st.booleans() | st.none(),
)
FILES: Mapping[str, MountedVolume | None] = {
    "files": MountedVolume(
        directory="/v",
        files={"good": f"A='{MARK}1'\n".encode(), "bad": f"A={MARK}2".encode()},
    )
}


def environment_of(pod: Pod, config_maps: list[ConfigMap], secrets: list[Secret]) -> Environment:
    objects = ObjectsInHand([*config_maps, *secrets])
    return resolve_environment(pod, "web", objects, services=SERVICES, volumes=FILES)


@given(PODS, CONFIG_MAPS, SECRETS)
def test_the_same_input_gives_the_same_answer_in_the_same_order(
    pod: Pod, config_maps: list[ConfigMap], secrets: list[Secret]
) -> None:
    first = environment_of(pod, config_maps, secrets)
    second = resolve_environment(
        pod,
        "web",
        ObjectsInHand([*secrets[::-1], *config_maps[::-1]]),
        services=SERVICES[::-1],
        volumes=FILES,
    )

    assert (first, list(first.variables)) == (second, list(second.variables))


def rank(assignment: Assignment) -> tuple[int, int]:
    """Return who is stronger: services, then whole objects, then single variables, by place."""
    path = assignment.place.path
    index = int(path.split("[")[2].split("]")[0]) if path.count("[") > 1 else 0
    if isinstance(assignment.origin, ServiceOrigin):
        return 0, index
    return (1 if ".envFrom[" in path else 2), index


@given(PODS, CONFIG_MAPS, SECRETS)
def test_the_later_wins_and_variables_over_whole_objects_over_services(
    pod: Pod, config_maps: list[ConfigMap], secrets: list[Secret]
) -> None:
    environment = environment_of(pod, config_maps, secrets)

    for variable in environment.variables.values():
        ranks = [rank(item) for item in (variable.assignment, *variable.shadows)]
        assert ranks == sorted(ranks, reverse=True)


def expanded_again(origin: ValueOrigin, environment: Environment) -> str:
    """Make the value from nothing but its origin and what is at the places that it names."""
    history = {
        (name, item.place): item.value
        for name, variable in environment.variables.items()
        for item in (variable.assignment, *variable.shadows)
    }
    substitutions = iter(origin.substitutions)

    def look_up(name: str) -> str | None:
        substitution = next(substitutions)
        assert substitution.name == name
        if substitution.place is None:
            return None
        return history[name, substitution.place]

    return expand(origin.template, look_up)


@given(PODS, CONFIG_MAPS, SECRETS)
def test_every_value_is_what_its_origin_holds(
    pod: Pod, config_maps: list[ConfigMap], secrets: list[Secret]
) -> None:
    environment = environment_of(pod, config_maps, secrets)
    texts = {item.metadata.name: item for item in config_maps}
    hidden = {item.metadata.name: item for item in secrets}
    links = pod.spec.enable_service_links is not False
    announced = {
        item.name: item.value
        for item in variables_of(services_for(NAMESPACE, SERVICES, links=links))
    }

    for name, variable in environment.variables.items():
        for assignment in (variable.assignment, *variable.shadows):
            origin, value = assignment.origin, assignment.value
            match origin:
                case ConfigMapOrigin():
                    assert value == texts[origin.name].data[origin.key]
                    assert origin.resource_version == f"c-{origin.name}"
                case SecretOrigin():
                    data = value.encode(errors="surrogateescape")
                    assert data == hidden[origin.name].data[origin.key]
                    assert assignment.sensitive
                case ServiceOrigin():
                    assert value == announced[name]
                case ValueOrigin():
                    assert value == expanded_again(origin, environment)
                case _:
                    pass


@given(PODS, CONFIG_MAPS, SECRETS)
def test_the_error_is_the_first_blocking_problem(
    pod: Pod, config_maps: list[ConfigMap], secrets: list[Secret]
) -> None:
    environment = environment_of(pod, config_maps, secrets)

    blocking = [problem.error for problem in environment.problems if problem.blocking]
    assert environment.error == (blocking[0] if blocking else None)


@given(PODS, CONFIG_MAPS, SECRETS)
def test_no_secret_is_shown_by_an_environment_or_its_problems(
    pod: Pod, config_maps: list[ConfigMap], secrets: list[Secret]
) -> None:
    environment = environment_of(pod, config_maps, secrets)

    shown = [repr(environment), str(environment.error)]
    for problem in environment.problems:
        shown += [repr(problem), problem.message, repr(msgspec.to_builtins(problem))]
    for variable in environment.variables.values():
        shown += [repr(variable), repr(msgspec.to_builtins(variable.origin))]
        shown += [repr(item.__rich_repr__()) for item in variable.shadows]

    assert MARK not in "".join(shown)


ITEMS = st.lists(
    st.builds(
        KeyToPath,
        key=NAMES,
        path=st.text(string.ascii_lowercase + "/.", min_size=1, max_size=4),
        mode=st.none() | st.integers(0, 0o777),
    ),
    max_size=3,
).map(tuple)
VOLUMES = st.builds(
    lambda source: Volume(name="v", secret=source),
    st.builds(
        SecretVolumeSource,
        secret_name=OBJECT_NAMES,
        items=ITEMS,
        default_mode=st.sampled_from([None, 0o644]),
        optional=st.booleans(),
    ),
) | st.builds(
    lambda sources: Volume(
        name="v", projected=ProjectedVolumeSource(sources=tuple(sources), default_mode=0o644)
    ),
    st.lists(
        st.builds(
            VolumeProjection,
            secret=st.builds(
                SecretProjection, name=OBJECT_NAMES, items=ITEMS, optional=st.booleans()
            ),
        )
        | st.just(VolumeProjection(service_account_token=ServiceAccountTokenProjection(path="t"))),
        max_size=3,
    ),
)


@given(VOLUMES, SECRETS)
def test_files_hold_what_their_origin_holds_and_show_none_of_it(
    volume: Volume, secrets: list[Secret]
) -> None:
    pod = Pod(metadata=ObjectMeta(namespace=NAMESPACE, name="p"), spec=PodSpec(volumes=(volume,)))
    held = {item.metadata.name: item.data for item in secrets}

    contents = resolve_volume(pod, "v", ObjectsInHand(secrets), token=lambda *_: MARK)

    for file in contents.files.values():
        if isinstance(file.origin, SecretOrigin):
            assert file.data == held[file.origin.name][file.origin.key]
        else:
            assert file.data == MARK.encode()
    messages = "".join(problem.message for problem in contents.problems)
    assert MARK not in f"{contents!r}{contents.problems!r}{contents.error}{messages}"

"""Files from the keys of a ConfigMap or Secret: which become files, under which path and mode.

Upstream: pkg/volume/configmap/configmap.go, MakePayload; pkg/volume/secret/secret.go, MakePayload
"""

from collections.abc import Sequence
from typing import Final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.volumes import KeyToPath
from reflet.errors import RefletError
from reflet.resolution.objects import ObjectReader, value_bytes
from reflet.resolution.problems import MissingDefaultMode, MissingKey, Problem, first_error
from reflet.resolution.references.wanted_objects import WantedObject, origin_of
from reflet.resolution.volumes.file_contents import FileContent, Filling, put

NO_DEFAULT_MODE: Final = "no defaultMode used, not even the default value for it"
STANDALONE: Final = "not supported due to running kubelet in standalone mode"
USUAL_MODE: Final = 0o644


def keyed_files(
    reader: ObjectReader | None,
    wanted: WantedObject,
    items: Sequence[KeyToPath],
    default_mode: int | None,
) -> Filling:
    """Return the files of an object, or of some of its keys, with all problems.

    The kubelet stops at the first of them, and that is the only error.  A missing optional
    object has no keys; that its keys are missing too is no further problem.
    """
    problems: list[Problem] = []
    item = _read(reader, wanted, problems)
    if default_mode is None:
        problems.append(MissingDefaultMode(place=wanted.place, kubelet=NO_DEFAULT_MODE))
    files: dict[str, FileContent] = {}
    if item is not None:
        mode = USUAL_MODE if default_mode is None else default_mode
        problems += wanted.oversized(item)
        if items:
            problems += _chosen_keys(files, wanted, item, items, mode)
        else:
            _every_key(files, wanted, item, mode)
    error = first_error(problems)
    return Filling(files=files, problems=tuple(problems), errors=() if error is None else (error,))


def _read(
    reader: ObjectReader | None, wanted: WantedObject, problems: list[Problem]
) -> ConfigMap | Secret | None:
    if reader is None:
        problems.append(wanted.without_client(STANDALONE))
        return None
    answer = reader.get(wanted.kind, wanted.name)
    if isinstance(answer, RefletError):
        problems.append(wanted.failed(answer))
        return None
    return answer


def _every_key(
    files: dict[str, FileContent], wanted: WantedObject, item: ConfigMap | Secret, mode: int
) -> None:
    for key, data in value_bytes(item).items():
        origin = origin_of(wanted, item, key, whole=True)
        sensitive = wanted.kind == "Secret"
        put(files, key, FileContent(data=data, mode=mode, origin=origin, sensitive=sensitive))


def _chosen_keys(
    files: dict[str, FileContent],
    wanted: WantedObject,
    item: ConfigMap | Secret,
    items: Sequence[KeyToPath],
    default_mode: int,
) -> list[MissingKey]:
    missing: list[MissingKey] = []
    for chosen in items:
        data = _data(item, chosen.key)
        if data is None:
            text = (
                f"configmap references non-existent config key: {chosen.key}"
                if wanted.kind == "ConfigMap"
                else f"references non-existent secret key: {chosen.key}"
            )
            present = tuple(value_bytes(item))
            missing.append(wanted.without_key(chosen.key, text, present=present))
            continue
        file = FileContent(
            data=data,
            mode=default_mode if chosen.mode is None else chosen.mode,
            origin=origin_of(wanted, item, chosen.key),
            sensitive=wanted.kind == "Secret",
        )
        put(files, chosen.path, file)
    return missing


def _data(item: ConfigMap | Secret, key: str) -> bytes | None:
    if isinstance(item, Secret):
        return item.data.get(key)
    text = item.data.get(key)
    return item.binary_data.get(key) if text is None else text.encode(errors="surrogatepass")

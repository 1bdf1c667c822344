"""What lint looks at: the objects of files, and what a cluster has of what they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import msgspec

from reflet.api.core.services import Service
from reflet.api.frozen import EMPTY
from reflet.errors import ConfigurationError, NotFound, RefletError
from reflet.insight.lint.ignore_comments import Comments, ignored_lines
from reflet.insight.lint.subjects import Subject, Subjects, TwiceThere
from reflet.manifests.applied import AppliedManifests, AppliedObject
from reflet.manifests.applying import AskServer, read_applied
from reflet.manifests.documented_objects import DocumentedObjects
from reflet.manifests.files import Sources, SourceText


@final
class LintSubjects(msgspec.Struct, frozen=True):
    """The objects of files, remarks on those that are left out, and what comments ignore.

    ``comments`` and ``texts`` have an entry for each file that was read.
    """

    subjects: Subjects
    remarks: list[str]
    comments: Comments
    texts: Mapping[str, bytes] = EMPTY
    documented: DocumentedObjects = DocumentedObjects()


def lint_subjects_from_files(
    sources: Sources | Sequence[str],
    *,
    namespace: str,
    on_file: Callable[[int], None] | None = None,
    ask_server: AskServer | None = None,
) -> LintSubjects:
    """Return what lint looks at in the files.

    *on_file* is called for every text that is read, *ask_server* asked for kinds that nothing is
    known of.  Raises ConfigurationError where there is nothing to check.

    - *sources*: files, folders, or ``-`` for standard input
    - *namespace*: where objects are that name none
    """
    comments: dict[str, Mapping[int, frozenset[str]]] = {}

    texts: dict[str, bytes] = {}

    def read(text: SourceText) -> None:
        texts[text.name] = text.content
        comments[text.name] = ignored_lines(text.content)
        if on_file is not None:
            on_file(1)

    applied = read_applied(sources, namespace=namespace, on_text=read, ask_server=ask_server)
    if sum(applied.unchecked.values()) == len(applied.objects) and not applied.refusals:
        # In a pipe, whoever was to write them has most likely failed.
        words = "; ".join(("nothing was checked", *applied.left_out))
        none = "the files hold no objects: there is nothing to check"
        raise ConfigurationError(words if applied.left_out else none)
    # That a Service has no address yet is nothing that lint looks at.
    services = {item.place for item in applied.objects if isinstance(item.object, Service)}
    remarks = [str(remark) for remark in applied.remarks if remark.place not in services]
    documented = documented_beside(sources)
    subjects = subjects_of(applied, documented)
    return LintSubjects(subjects, [*applied.left_out, *remarks], comments, texts, documented)


def documented_beside(sources: Sources | Sequence[str]) -> DocumentedObjects:
    """Return what the documents of the folders that are read tell people to create."""
    return DocumentedObjects(path for path in Sources.of(sources).paths if Path(path).is_dir())


def subjects_of(applied: AppliedManifests, documented: DocumentedObjects | None = None) -> Subjects:
    """Return the objects of the files, accepted or refused, as lint wants them."""
    return Subjects(
        (*map(_accepted, applied.objects), *_refused(applied)),
        twice=tuple(
            TwiceThere(_accepted(each.later), each.earlier.place) for each in applied.duplicates
        ),
        repeated_keys=tuple((*_split(each.place), each.message) for each in applied.repeated_keys),
        made=applied.made,
        documented=documented,
    )


def _accepted(item: AppliedObject) -> Subject:
    metadata = item.object.metadata
    file, line = _split(item.place)
    return Subject(
        file=file,
        line=line,
        kind=item.object.kind,
        namespace=metadata.namespace,
        name=metadata.name or metadata.generate_name,
        find_line=item.line_of,
        object=item.object,
        workload=item.workload,
        folder=item.folder,
        is_changed=item.is_changed,
        has_namespace=item.has_namespace,
    )


def _refused(applied: AppliedManifests) -> Iterator[Subject]:
    for refusal in applied.refusals:
        file, line = _split(refusal.place)
        yield Subject(
            file=file,
            line=line,
            kind=refusal.kind,
            namespace=refusal.namespace,
            name=refusal.name,
            find_line=refusal.line_of,
            message=refusal.message,
            causes=refusal.causes,
            fix=refusal.fix,
            refused_annotations=refusal.annotations,
        )


def remarks_on_unread(live: Mapping[Any, object]) -> list[str]:
    """Say which objects of the cluster could not be read and are therefore not checked."""
    return [
        f"{kind} {f'{namespace}/' if namespace else ''}{name} could not be read, so it is not "
        f"checked: {answer}"
        for (kind, namespace, name), answer in live.items()
        if isinstance(answer, RefletError) and not isinstance(answer, NotFound)
    ]


def _split(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line)

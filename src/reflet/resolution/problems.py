"""Everything that can be wrong with what a pod asks for, each as a type with its facts.

``kubelet`` is the kubelet's own text, empty where it says nothing; ``blocking`` means that it would
not start the container, or not set up the volume.  Problems hold names, keys and sizes, never
values.
"""

from collections.abc import Iterable

from reflet.api.frozen import Frozen
from reflet.resolution.objects import LARGEST_OBJECT, ConfigKind
from reflet.resolution.places import Place


class Refused(Frozen, frozen=True, kw_only=True):
    """A value that the kubelet cannot compute, and what it says."""

    text: str


class Unknown(Frozen, frozen=True, kw_only=True):
    """A value that the kubelet would know and we cannot, and why."""

    text: str


class Problem(Frozen, frozen=True, kw_only=True, tag_field="type", tag=True):
    """Something wrong at a place of the pod."""

    place: Place = Place()
    kubelet: str = ""
    blocking: bool = True

    @property
    def message(self) -> str:
        """One sentence for people, without a closing stop."""
        return self._sentence()

    def __str__(self) -> str:
        return self.message or repr(self)

    @property
    def error(self) -> str:
        """What the kubelet says, or, where it has no words, the message."""
        return self.kubelet or self.message

    def _sentence(self) -> str:
        return self.kubelet


def first_error(problems: Iterable[Problem]) -> str | None:
    """Return the text of the first problem at which the kubelet would stop.

    - *problems*: what is wrong, in the kubelet's order
    """
    return next((problem.error for problem in problems if problem.blocking), None)


def joined_errors(texts: Iterable[str]) -> str | None:
    """Return several errors as the kubelet's one: each text once, in brackets if several.

    - *texts*: the errors
    """
    once = list(dict.fromkeys(texts))
    if len(once) > 1:
        return f"[{', '.join(once)}]"
    return once[0] if once else None


class ServiceLinksUnset(Problem, frozen=True, kw_only=True):
    """The pod does not say whether it wants service variables."""

    def _sentence(self) -> str:
        return "spec.enableServiceLinks is not set; the API server defaults it to true"


class ServicesNotRead(Problem, frozen=True, kw_only=True):
    """The services were never read, so their variables are not known."""

    def _sentence(self) -> str:
        return "the services have not been read yet"


class ServicesUnreadable(Problem, frozen=True, kw_only=True):
    """Reading the services failed."""

    reason: str = ""

    def _sentence(self) -> str:
        return f"the services could not be listed: {self.reason}"


class AmbiguousServiceVariable(Problem, frozen=True, kw_only=True):
    """Several services make a variable of one name; which one wins is chance in the kubelet."""

    name: str
    services: tuple[str, ...]
    blocking: bool = False

    def _sentence(self) -> str:
        return f"services {', '.join(self.services)} all set {self.name}; which one wins is chance"


class ObjectProblem(Problem, frozen=True, kw_only=True):
    """Something wrong with a ConfigMap or Secret that the pod names."""

    object_kind: ConfigKind
    namespace: str
    name: str
    optional: bool = False

    @property
    def object_text(self) -> str:
        """The object for people: ``ConfigMap shop/settings``."""
        return f"{self.object_kind} {self.namespace}/{self.name}"


class NoClient(ObjectProblem, frozen=True, kw_only=True):
    """There is nobody to ask for objects."""

    def _sentence(self) -> str:
        return f"{self.object_text} cannot be read: there is no API server"


class MissingObject(ObjectProblem, frozen=True, kw_only=True):
    """The object does not exist; an optional reference then counts for nothing."""

    def _sentence(self) -> str:
        optional = " (optional)" if self.optional else ""
        return f"{self.object_text} does not exist{optional}"


class UnreadableObject(ObjectProblem, frozen=True, kw_only=True):
    """Reading the object failed, which optional references do not forgive."""

    reason: str = ""

    def _sentence(self) -> str:
        return f"{self.object_text} could not be read: {self.reason}"


class MissingKey(ObjectProblem, frozen=True, kw_only=True):
    """The object has no such key; ``binary`` means that it has it in ``binaryData``."""

    key: str
    present: tuple[str, ...] = ()
    binary: bool = False

    def _sentence(self) -> str:
        optional = " (optional)" if self.optional else ""
        if self.binary:
            return (
                f"{self.object_text} has key {self.key} only as binary data, which variables "
                f"cannot use{optional}"
            )
        there = f"it has {', '.join(self.present)}" if self.present else "it is empty"
        return f"{self.object_text} has no key {self.key}{optional}; {there}"


class OversizedObject(ObjectProblem, frozen=True, kw_only=True):
    """The object is larger than the API server accepts."""

    size: int
    limit: int = LARGEST_OBJECT
    blocking: bool = False

    def _sentence(self) -> str:
        return f"{self.object_text} holds {self.size} bytes; the API server takes {self.limit}"


class SkippedNames(ObjectProblem, frozen=True, kw_only=True):
    """Keys that were left out, because they are not names of variables.

    ``kubelet`` is the message of the event that the kubelet sends.
    """

    names: tuple[str, ...]
    event_reason: str = "InvalidEnvironmentVariableNames"
    blocking: bool = False


class InvalidVariableName(Problem, frozen=True, kw_only=True):
    """A name that the API server would not accept and a program may never see."""

    name: str
    blocking: bool = False

    def _sentence(self) -> str:
        return f"{self.name!r} is not a name for a variable: printable ASCII without '=' is"


class ZeroInValue(Problem, frozen=True, kw_only=True):
    """A value with a zero byte, which no process can be given."""

    name: str
    blocking: bool = False

    def _sentence(self) -> str:
        return f"the value of {self.name} has a zero byte; the container cannot be started with it"


class OversizedValue(Problem, frozen=True, kw_only=True):
    """A value that is longer than Linux hands to a process."""

    name: str
    size: int
    limit: int

    def _sentence(self) -> str:
        return f"the value of {self.name} has {self.size} bytes; at most {self.limit} are possible"


class OversizedEnvironment(Problem, frozen=True, kw_only=True):
    """All variables and arguments together are more than Linux hands to a process.

    At a variable's place, it is the one with which they are more than we put together.
    """

    size: int
    limit: int

    def _sentence(self) -> str:
        return (
            f"variables and arguments have {self.size} bytes together; "
            f"about {self.limit} are possible"
        )


class UnresolvedReference(Problem, frozen=True, kw_only=True):
    """``$(NAME)`` of a variable that is not there, or not yet: it stays in the value."""

    name: str
    defined_later: bool = False
    blocking: bool = False

    def _sentence(self) -> str:
        why = "is set only further down" if self.defined_later else "is not set"
        return f"$({self.name}) stays as it is: {self.name} {why}"


class UnsupportedField(Problem, frozen=True, kw_only=True):
    """A field of the pod that variables, or files, cannot show."""

    field: str


class UnavailableResource(Problem, frozen=True, kw_only=True):
    """A limit or request that is not known."""

    resource: str
    container: str = ""


class NotKnownYet(Problem, frozen=True, kw_only=True):
    """A value that the kubelet will have and that is not known here."""

    field: str
    reason: str = ""
    blocking: bool = False

    def _sentence(self) -> str:
        return f"{self.field} is not known: {self.reason}"


class FileProblem(Problem, frozen=True, kw_only=True):
    """Something wrong with an environment file; ``detail`` is what the kubelet logs."""

    volume: str
    path: str
    key: str
    optional: bool = False
    detail: str = ""

    def _sentence(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.kubelet or f'no {self.key} in {self.path} of {self.volume}'}{detail}"


class MissingVolume(FileProblem, frozen=True, kw_only=True):
    """The volume of the environment file is not there."""


class UnreadableEnvFile(FileProblem, frozen=True, kw_only=True):
    """The environment file is missing or malformed."""


class MissingFileKey(FileProblem, frozen=True, kw_only=True):
    """The environment file does not set the variable, or sets it to nothing."""


class MissingDefaultMode(Problem, frozen=True, kw_only=True):
    """The volume has no default mode; the API server sets 0644."""


class UnsupportedSource(Problem, frozen=True, kw_only=True):
    """A source of files that Reflet does not know how to fill."""

    source: str
    instead: str = ""

    def _sentence(self) -> str:
        instead = f"; {self.instead}" if self.instead else ""
        return f"{self.source} is not supported: Reflet cannot fill it{instead}"


class TrustBundleUnavailable(Problem, frozen=True, kw_only=True):
    """No trust anchors: the bundles that are meant do not exist, or cannot be read."""

    name: str = ""
    signer_name: str = ""


class NoProjectedClient(Problem, frozen=True, kw_only=True):
    """Projected volumes need an API server, whatever their sources."""


class TokenUnavailable(Problem, frozen=True, kw_only=True):
    """No token for the service account."""

    service_account: str
    audience: str = ""


class InvalidMountPoint(Problem, frozen=True, kw_only=True):
    """A volume that is mounted above the root of the container."""

    mount_path: str


class InvalidSubPath(Problem, frozen=True, kw_only=True):
    """A sub-path that is absolute or leads upwards."""

    sub_path: str


class MissingSubPathVariables(Problem, frozen=True, kw_only=True):
    """A sub-path names variables that are not set or empty."""

    names: tuple[str, ...]

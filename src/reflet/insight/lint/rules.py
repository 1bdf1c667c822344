"""The rules, each with its id, its severity and one line, and a finding as data.

The pages in docs/reference/lint say more, one page a rule.
"""

import enum
from collections.abc import Iterable
from typing import Final, Literal, final

from reflet.api.frozen import Frozen
from reflet.errors import ConfigurationError

Speaker = Literal["kubelet", "API server"]
"""Whose words a finding repeats."""


@final
class Severity(enum.Enum):
    """How bad it is: errors fail, warnings fail when asked to, notes only inform."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Frozen, frozen=True, kw_only=True):
    """One rule.  ``usual`` rules are checked without being asked for."""

    id: str
    name: str
    severity: Severity
    summary: str
    usual: bool = True

    @property
    def page(self) -> str:
        """Where the rule is explained, below the documentation's root."""
        return f"reference/lint/{self.id}.md"


def _rule(number: int, name: str, severity: Severity, summary: str, *, usual: bool = True) -> Rule:
    return Rule(id=f"RFL{number:03}", name=name, severity=severity, summary=summary, usual=usual)


_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

REFUSED: Final = _rule(1, "refused", _ERROR, "the API server refuses the object")
MISSING_OBJECT: Final = _rule(
    2, "missing-object", _ERROR, "a pod names a ConfigMap or Secret that does not exist"
)
MISSING_KEY: Final = _rule(
    3, "missing-key", _ERROR, "a pod names a key that the ConfigMap or Secret does not have"
)
MASKED: Final = _rule(
    4, "masked-by-optional", _NOTE, "an object or key is missing, and optional hides it"
)
INVALID_NAME: Final = _rule(5, "invalid-variable-name", _ERROR, "the name of a variable is not one")
AWKWARD_NAME: Final = _rule(
    6, "awkward-variable-name", _WARNING, "a key becomes a variable that shells cannot read"
)
SHADOWED: Final = _rule(
    7, "shadowed-variable", _WARNING, "two sources of the same rank set one variable"
)
OVERRIDDEN: Final = _rule(8, "overridden-variable", _NOTE, "env overrides a key of envFrom")
UNRESOLVED: Final = _rule(
    9, "unresolved-reference", _ERROR, "$(NAME) of a variable that is not set stays text"
)
DEFINED_LATER: Final = _rule(
    10, "defined-later", _ERROR, "$(NAME) of a variable that is set further down stays text"
)
DUPLICATE_MOUNT: Final = _rule(
    11, "duplicate-mount-path", _ERROR, "two volumes are mounted at one path"
)
OVERSIZED: Final = _rule(
    12, "oversized", _ERROR, "an object, a variable or an environment is too large"
)
CHANGED_IMMUTABLE: Final = _rule(
    13, "changed-immutable", _ERROR, "an object differs from the cluster's, which is immutable"
)
PATH_CONFLICT: Final = _rule(
    14, "path-conflict", _ERROR, "two files of a volume need the same path"
)
SHADOWED_FILE: Final = _rule(
    15, "shadowed-file", _WARNING, "a later source of a volume hides a file of an earlier one"
)
ESCAPING_PATH: Final = _rule(16, "escaping-path", _ERROR, "a path leads out of its volume")
NEVER_REFRESHED: Final = _rule(
    17, "never-refreshed", _NOTE, "a subPath shows no change until the container restarts"
)
MISSING_SUB_PATH: Final = _rule(
    18, "missing-sub-path", _ERROR, "a subPath names a file that the volume does not have"
)
UNUSED: Final = _rule(
    19, "unused", _NOTE, "nothing in the files uses the ConfigMap or Secret", usual=False
)
OTHER_NAMESPACE: Final = _rule(
    20, "other-namespace", _ERROR, "the object that a pod names is in another namespace"
)
PULL_SECRET_TYPE: Final = _rule(
    21, "pull-secret-type", _WARNING, "a pull secret is of a type that is ignored"
)
KUBELET_REFUSES: Final = _rule(
    22, "kubelet-refuses", _ERROR, "the kubelet does not start the container"
)
PLAIN_SECRET: Final = _rule(
    23, "plain-secret", _WARNING, "the value of a Secret stands in plain text elsewhere"
)
MISSING_PULL_SECRET: Final = _rule(
    24, "missing-pull-secret", _WARNING, "a pod names a pull secret that does not exist"
)
REPEATED_KEY: Final = _rule(
    25, "repeated-key", _WARNING, "a key stands twice in one mapping, and the last one counts"
)
DUPLICATE_OBJECT: Final = _rule(
    26, "duplicate-object", _WARNING, "the same object stands twice, and the later one counts"
)
MISSING_SERVICE_ACCOUNT: Final = _rule(
    27, "missing-service-account", _WARNING, "a pod names a ServiceAccount that does not exist"
)
MISSING_PRIORITY_CLASS: Final = _rule(
    28, "missing-priority-class", _WARNING, "a pod names a PriorityClass that does not exist"
)
MISSING_CLAIM: Final = _rule(
    29, "missing-claim", _WARNING, "a pod names a PersistentVolumeClaim that does not exist"
)
MISSING_RUNTIME_CLASS: Final = _rule(
    30, "missing-runtime-class", _WARNING, "a pod names a RuntimeClass that does not exist"
)
SELECTS_NOTHING: Final = _rule(
    31, "selects-nothing", _WARNING, "a selector matches no pod of the files"
)
UNKNOWN_PORT_NAME: Final = _rule(
    32, "unknown-port-name", _ERROR, "a Service names a port that none of its containers has"
)
UNUSED_HASHED: Final = _rule(
    33, "unused-hashed", _WARNING, "nothing uses a ConfigMap or Secret with a hash in its name"
)
SIDECAR_CONFLICT: Final = _rule(
    34, "sidecar-conflict", _WARNING, "two keys become the same file of a sidecar"
)
SIDECAR_FOLDER: Final = _rule(
    35, "sidecar-folder", _WARNING, "an annotation leads out of the folder of a sidecar"
)
SIDECAR_MISS: Final = _rule(
    36, "sidecar-miss", _WARNING, "an object is nearly what a sidecar picks up by label"
)

RULES: Final[tuple[Rule, ...]] = tuple(
    sorted(
        (value for value in list(globals().values()) if isinstance(value, Rule)),
        key=lambda rule: rule.id,
    )
)
"""Every rule, by number."""


def chosen_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[Rule]:
    """Return the rules to check: the usual ones, or those selected, without those ignored.

    Rules go by id or name, ``ALL`` is all of them.  Raises ConfigurationError for others.
    """
    selected = _named(select)
    chosen = selected or frozenset(rule for rule in RULES if rule.usual)
    return chosen - _named(ignore)


def rules_named(text: str) -> frozenset[Rule]:
    """Return the rule of an id or name, all of them for ``ALL``, none when there is none."""
    wanted = text.strip().lower()
    return frozenset(
        rule for rule in RULES if wanted == "all" or wanted in {rule.id.lower(), rule.name}
    )


def _named(texts: Iterable[str]) -> frozenset[Rule]:
    found: set[Rule] = set()
    for text in texts:
        matching = rules_named(text)
        if not matching:
            raise ConfigurationError(
                f"there is no rule {text!r}: reflet lint --rules lists {RULES[0].id} "
                f"to {RULES[-1].id}"
            )
        found.update(matching)
    return frozenset(found)


class Finding(Frozen, frozen=True, kw_only=True):
    """One violation of a rule.

    ``file`` and ``line`` are where it stands, ``subject`` is the object (``Pod shop/web``),
    ``path`` the field of it.  ``said`` is what the kubelet or the API server will say, and ``by``
    which of them.  ``own_severity`` is for a finding that is less or more than its rule.
    """

    rule: Rule
    message: str
    file: str
    line: int
    subject: str
    path: str = ""
    fix: str = ""
    said: str = ""
    by: Speaker = "kubelet"
    own_severity: Severity | None = None

    @property
    def severity(self) -> Severity:
        """That of the rule, unless the finding has its own."""
        return self.own_severity or self.rule.severity

    @property
    def rank(self) -> tuple[str, int, str, str]:
        """Sort key: as a reader of the files meets them."""
        return self.file, self.line, self.rule.id, self.message

"""What lint finds, and where.

Owns: a finding as data, and the order of findings.  Must not know how findings are printed.
"""

from reflet.api.frozen import Frozen
from reflet.insight.lint.rules import Rule, Severity


class Finding(Frozen, frozen=True, kw_only=True):
    """One violation of a rule.

    ``file`` and ``line`` are where it stands, ``subject`` is the object (``Pod shop/web``),
    ``path`` the field of it.  ``kubelet`` is what the kubelet or the API server will say.
    """

    rule: Rule
    message: str
    file: str
    line: int
    subject: str
    path: str = ""
    fix: str = ""
    kubelet: str = ""

    @property
    def severity(self) -> Severity:
        """That of the rule."""
        return self.rule.severity

    @property
    def rank(self) -> tuple[str, int, str, str]:
        """Sort key: as a reader of the files meets them."""
        return self.file, self.line, self.rule.id, self.message

"""The two kinds of selector under one roof.

Owns: nothing; label_selectors.py and field_selectors.py do.  Must not hold logic.
"""

from reflet.api.field_selectors import FieldRequirement, FieldSelector
from reflet.api.label_selectors import LabelSelector, MatchExpression, Operator, Requirement

__all__ = [
    "FieldRequirement",
    "FieldSelector",
    "LabelSelector",
    "MatchExpression",
    "Operator",
    "Requirement",
]

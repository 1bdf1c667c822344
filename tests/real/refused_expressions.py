"""Rules that are refused when a definition is made.

Owns: the tables.  What is said of them, the real server says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.real.expression_cases import LOOSE, NUMBER, ODD, PAIR, TEXT, Schema, many, ruled, table

# Rules that are refused when the definition is made, each on the schema before it.
REFUSED: Final[list[tuple[Schema, str | Mapping[str, Any]]]] = [
    (NUMBER, "self.foo == 1"),
    (PAIR, "self.c == 1"),
    (PAIR, "self.a.b == 1"),
    (PAIR, "self.a == 'x'"),
    (PAIR, "self.a + self.b == 1"),
    (PAIR, "self.a"),
    (PAIR, "selff.a == 1"),
    (PAIR, "self.b.startsWith(1)"),
    (PAIR, "self.b.nothing()"),
    (PAIR, "nothing(self.a)"),
    (PAIR, "self.all(x, x == 'a')"),
    (PAIR, "size(self) == 1"),
    (PAIR, "self.a && true"),
    (PAIR, "self.a == 1 ? true : 'x'"),
    (PAIR, "[1, 'x'].size() == 2"),
    (PAIR, "{'a': 1, 'b': 'x'}.size() == 2"),
    (PAIR, "self.b.matches('(')"),
    (PAIR, "duration('x') == duration('1s')"),
    (PAIR, "timestamp('x') == timestamp('y')"),
    (PAIR, "has(self)"),
    (PAIR, "self.a == null"),
    (PAIR, "self == null && false"),
    (PAIR, "self.a in ['x']"),
    (PAIR, "self.a < 'x'"),
    (PAIR, "self.b[0] == 'x'"),
    (PAIR, "1 == 1.0"),
    (PAIR, "self.metadata.name == 'x'"),
    (PAIR, "dyn(self.a) == 'x' && self.x"),
    (PAIR, "quantity(self.a).isInteger()"),
    (PAIR, "ip(self.b) == cidr(self.b)"),
    (PAIR, "self.b.reverse() == 'x'"),
    (PAIR, "math.abs(self.a) == 1"),
    (PAIR, "self.?a + 1 == 2"),
    (PAIR, "Foo{a: 1} == self"),
    (PAIR, "oldSelf.hasValue()"),
    (PAIR, {"rule": "true", "optionalOldSelf": True}),
    (PAIR, {"rule": "self == oldSelf", "optionalOldSelf": True}),
    (PAIR, {"rule": "true", "messageExpression": "self.a"}),
    (PAIR, {"rule": "true", "messageExpression": "self.x"}),
    (PAIR, {"rule": "true", "messageExpression": " "}),
    (PAIR, {"rule": "true", "message": " "}),
    (PAIR, {"rule": "true", "message": "a\nb"}),
    (PAIR, {"rule": "true\n&& true"}),
    (PAIR, {"rule": "true\n&& self.x", "message": "m"}),
    (PAIR, {"rule": "  "}),
    (PAIR, {"rule": "true", "reason": "Nope"}),
    (PAIR, {"rule": "true", "fieldPath": ".x"}),
    (PAIR, {"rule": "true", "fieldPath": "a"}),
    (PAIR, {"rule": "true", "fieldPath": ".a[0]"}),
    (many(NUMBER), "self.sum() == 'x'"),
    (many(TEXT), "self.sum() == 1"),
    (many(NUMBER), "self.all(x, x.y == 1)"),
    (many(NUMBER), "self.all(1, true)"),
    (many(NUMBER), "self.map(x, x) == ['a']"),
    (many(PAIR), "self.exists(x, x.c == 1)"),
    (table(NUMBER), "self.a == 'x'"),
    (LOOSE, "self.other == 1"),
    ({**PAIR, "allOf": [ruled({}, "self.a > 1")]}, "true"),
    ({**PAIR, "not": ruled({}, "self.a > 1")}, "true"),
    (ODD, "self.a-b == 'x'"),
    (ODD, "self['a-b'] == 'x'"),
]
# Those that are no expressions: both servers refuse them, each parser in its own words.
MALFORMED: Final = [
    *("self.a ==", "self.a == 1)", "(self.a == 1", "self.a = 1", "'x", "self..a", "for == 1"),
    *(
        "self.a == 1 &&",
        "a b",
        "[1,",
        "{1}",
        "1 + + 1",
        "self.namespace == 'x'",
        "9223372036854775808 == 1",
    ),
    *("'\\q' == 'x'", "self.a ? 1", "", "#", "self.`a", "0xg == 1", "1.e3 == 1.0", "a.1"),
]

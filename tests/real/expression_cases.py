"""Rules, and values that they judge: each is sent to both servers.

Owns: the table.  Must not know how it is sent, nor what comes of it: the real server says that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

ABSENT: Final = object()
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A schema with rules, a value of it, and the one that it replaces, if it replaces one."""

    schema: Schema
    new: Any
    old: Any = ABSENT

    @property
    def name(self) -> str:
        """The first rule, or the schema, and the value."""
        rules = self.schema.get("x-kubernetes-validations")
        return f"{rules[0]['rule'] if rules else self.schema} {self.new}"


TEXT: Final[Schema] = {"type": "string", "maxLength": 40}
NUMBER: Final[Schema] = {"type": "integer"}
REAL: Final[Schema] = {"type": "number"}
TRUTH: Final[Schema] = {"type": "boolean"}
EITHER: Final[Schema] = {"x-kubernetes-int-or-string": True}
MOMENT: Final[Schema] = {"type": "string", "format": "date-time"}
DAY: Final[Schema] = {"type": "string", "format": "date"}
SPAN: Final[Schema] = {"type": "string", "format": "duration"}
BYTES: Final[Schema] = {"type": "string", "format": "byte", "maxLength": 40}


def many(items: Schema, **more: Any) -> Schema:
    """Give the schema of a list."""
    return {"type": "array", "maxItems": 6, "items": items, **more}


def table(values: Schema) -> Schema:
    """Give the schema of a map."""
    return {"type": "object", "maxProperties": 6, "additionalProperties": values}


def record(*required: str, **fields: Schema) -> Schema:
    """Give the schema of an object."""
    return {"type": "object", "properties": fields, "required": list(required)}


def ruled(schema: Schema, *rules: str | Mapping[str, Any]) -> Schema:
    """Add rules to a schema."""
    made = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**schema, "x-kubernetes-validations": made}


def _each(schema: Schema, value: Any, *rules: str) -> list[Case]:
    return [Case(ruled(schema, rule), value) for rule in rules]


PAIR: Final = record(a=NUMBER, b=TEXT)
NAMED: Final = many(
    record("name", name=TEXT, size=NUMBER),
    **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
)
UNIQUE: Final = many(TEXT, **{"x-kubernetes-list-type": "set"})
ODD: Final[Schema] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("namespace", "a-b", "c.d", "e/f", "g__h", "in", "x y", "1z"), TEXT),
    },
}
ODD_VALUE: Final = {"namespace": "n", "a-b": "x", "c.d": "y", "e/f": "z", "g__h": "w", "in": "i"}
LOOSE: Final[Schema] = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {"known": TEXT},
}
EMBEDDED: Final[Schema] = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}
CONFIG: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "inner"}}

OPERATORS: Final = [
    *_each(NUMBER, 3, "self > 2", "self >= 4", "self + 1 == 4", "self - 5 == -2", "self * 2 == 6"),
    *_each(NUMBER, 3, "self / 2 == 1", "-self / 2 == -1", "self % 2 == 1", "-self % 2 == -1"),
    *_each(NUMBER, 3, "self / 0 == 1", "self % 0 == 1", "self < 2.5", "self <= 3u", "!(self == 3)"),
    *_each(NUMBER, 3, "double(self) == 3.0", "string(self) == '3'", "self in [1, 2]", "self != 3"),
    *_each(NUMBER, 3, "type(self) == int", "uint(self) == 3u", "self > 5 ? true : self == 3"),
    *_each(NUMBER, 9223372036854775807, "self + 1 > 0", "self * 2 > 0", "-self < 0"),
    *_each(REAL, 2.5, "self > 2.0", "int(self) == 2", "self / 0.0 > 1.0", "string(self) == '2.5'"),
    *_each(REAL, 2, "self == 2.0", "self > 1", "type(self) == double", "self in [2.0]"),
    *_each(TRUTH, True, "self", "!self", "self == true", "self || 1 / 0 == 1", "self && 1/0 == 1"),
    *_each(EITHER, 5, "type(self) == int", "self == 5", "self > 3", "string(self) == '5'"),
    *_each(EITHER, "50%", "type(self) == string ? self.endsWith('%') : self < 5", "self > 3"),
    *_each(EITHER, "50%", "self.matches('^[0-9]+%$')", "self == 5", "self.size() == 3"),
    *_each(BYTES, "YWJj", "self == b'abc'", "size(self) == 3", "string(self) == 'abd'"),
]
TEXTS: Final = [
    *_each(TEXT, "Abc-def", "self.contains('bc')", "self.startsWith('abc')", "self.endsWith('f')"),
    *_each(TEXT, "Abc-def", "self.matches('^[A-Z]')", "self.matches('x')", "self.size() == 6"),
    *_each(TEXT, "Abc-def", "self.lowerAscii() == 'abc-def'", "self.upperAscii() == 'ABC-DEF'"),
    *_each(
        TEXT, "Abc-def", "self.charAt(0) == 'A'", "self.charAt(9) == ''", "self.charAt(7) == ''"
    ),
    *_each(TEXT, "Abc-def", "self.indexOf('c') == 2", "self.indexOf('c', 3) == -1"),
    *_each(TEXT, "Abc-def", "self.lastIndexOf('e') == 5", "self.lastIndexOf('b', 0) == 1"),
    *_each(TEXT, "Abc-def", "self.replace('b', 'x') == 'Axc-def'", "self.substring(1, 3) == 'bc'"),
    *_each(TEXT, "Abc-def", "self.substring(4) == 'de'", "self.substring(5, 2) == ''"),
    *_each(TEXT, "a,b,c", "self.split(',') == ['a', 'b', 'c']", "self.split(',', 2)[1] == 'b'"),
    *_each(TEXT, "a,b,c", "self.split('').size() == 5"),
    *_each(TEXT, "  x ", "self.trim() == 'x'", "strings.quote(self) == '\"  x \"'"),
    *_each(TEXT, "a1b22", "self.find('[0-9]+') == '1'", "self.findAll('[0-9]+') == ['1', '22']"),
    *_each(TEXT, "a1b22", "self.findAll('[0-9]+', 1).size() == 1", "self.find('x') == 'x'"),
    *_each(TEXT, "4", "int(self) == 4", "double(self) == 4.0", "bool(self)", "uint(self) == 4u"),
    *_each(
        TEXT, "héé", "self.size() == 3", "bytes(self).size() == 5", "self < 'i'", "int(self)==1"
    ),
    *_each(TEXT, "x", "'%s=%d'.format([self, 3]) == 'x=3'", "'%s'.format([[self]]) == '[\"x\"]'"),
    *_each(TEXT, "x", "'%.2f'.format([1.5]) == '1.50'", "'%x'.format([255]) == 'ff'"),
    *_each(TEXT, "x", "self == r'x' && '\\u0041' == 'A'", "'''x''' == self", '"x" + \'y\' == "xy"'),
]
COLLECTIONS: Final = [
    *_each(many(NUMBER), [1, 2, 3], "self.all(x, x > 0)", "self.exists(x, x > 3)", "self[0] == 2"),
    *_each(many(NUMBER), [1, 2, 3], "self.exists_one(x, x > 2)", "self.map(x, x * 2) == [2, 4, 6]"),
    *_each(many(NUMBER), [1, 2, 3], "self.filter(x, x > 1).size() == 2", "self.isSorted()"),
    *_each(many(NUMBER), [1, 2, 3], "self.map(x, x > 1, x * x) == [4, 9]", "self[3] == 1"),
    *_each(many(NUMBER), [3, 1, 2], "self.sum() == 6", "self.min() == 1", "self.max() == 3"),
    *_each(
        many(NUMBER), [3, 1, 2], "self.isSorted()", "self.indexOf(1) == 1", "self.sort()[0] == 1"
    ),
    *_each(many(NUMBER), [3, 1, 3], "self.lastIndexOf(3) == 2", "self.distinct().size() == 2"),
    *_each(many(NUMBER), [], "self.min() == 1", "self.sum() == 0", "self.all(x, x > 9)"),
    *_each(
        many(NUMBER),
        [1, 2],
        "self + [3] == [1, 2, 3]",
        "self == [2, 1]",
        "2 in self",
        "self[-1]==1",
    ),
    *_each(many(NUMBER), [1, 2], "self.all(i, v, v == i + 1)", "self.exists(i, v, i == v)"),
    *_each(
        many(NUMBER), [1, 2], "self.transformList(i, v, i * v) == [0, 2]", "self[?5].hasValue()"
    ),
    *_each(many(NUMBER), [1, 2], "sets.contains(self, [2])", "sets.equivalent(self, [2, 1, 1])"),
    *_each(many(NUMBER), [1, 2], "sets.intersects(self, [3])", "self.slice(0, 1) == [1]"),
    *_each(many(NUMBER), [1, 2], "self.reverse() == [2, 1]", "lists.range(2) == [0, 1]"),
    *_each(many(NUMBER), [1, 2], "self.sortBy(x, -x) == [2, 1]", "self.slice(1, 5) == [1]"),
    *_each(many(many(NUMBER)), [[1], [2]], "self.flatten() == [1, 2]", "self[0][0] == 2"),
    *_each(many(NUMBER), [1, 2], "self.all(x, 1 / (x - 1) > 0)", "self.exists(x, 2 / (x - 1) > 1)"),
    *_each(UNIQUE, ["a", "b"], "self == ['b', 'a']", "self + ['b', 'c'] == ['a', 'b', 'c']"),
    *_each(NAMED, [{"name": "a", "size": 1}], "self.all(x, x.size > 0)", "self[0].name == 'b'"),
    *_each(table(NUMBER), {"a": 1, "b": 2}, "self['a'] == 1", "'c' in self", "self.a == 1"),
    *_each(table(NUMBER), {"a": 1, "b": 2}, "self.all(k, self[k] > 1)", "self['x'] == 1"),
    *_each(table(NUMBER), {"a": 1, "b": 2}, "self.all(k, v, v > 0 && k != '')", "size(self) == 2"),
    *_each(table(NUMBER), {"a": 1}, "self.transformMap(k, v, v + 1) == {'a': 2}", "has(self.b)"),
    *_each(table(NUMBER), {"a": 1}, "self.transformMapEntry(k, v, {v: k}) == {1: 'a'}"),
    *_each(table(NUMBER), {"a": 1}, "self.map(k, k) == ['a']", "self.?a.orValue(0) == 1"),
    *_each(table(TEXT), {"a.b/c": "x"}, "self['a.b/c'] == 'x'", "self.exists(k, k.contains('/'))"),
]
OBJECTS: Final = [
    *_each(
        PAIR, {"a": 1}, "self.a == 1", "has(self.b)", "self.b == ''", "!has(self.b) || self.a > 1"
    ),
    *_each(
        PAIR, {"a": 1}, "self.?b.orValue('x') == 'x'", "self.?a.hasValue()", "self.?b.value() == ''"
    ),
    *_each(PAIR, {"a": 1}, "has(self.b) ? self.b == 'x' : self.a == 1", "size(self.b) > 0"),
    *_each(PAIR, {"a": 1}, "self.?a.optMap(x, x + 1).orValue(0) == 2", "self.?a == optional.of(1)"),
    *_each(PAIR, {"a": 1}, "[?self.?a, ?optional.of(2)] == [1, 2]", "{?'x': self.?a} == {'x': 1}"),
    *_each(
        PAIR, {"a": 1}, "self.?a.orValue(1 / 0) == 1", "self.?b.or(optional.of('q')).value() == 'q'"
    ),
    *_each(
        ODD, ODD_VALUE, "self.__namespace__ == 'n'", "self.a__dash__b == 'x'", "self.__in__=='i'"
    ),
    *_each(ODD, ODD_VALUE, "self.c__dot__d == 'y'", "self.e__slash__f == 'z'"),
    *_each(ODD, ODD_VALUE, "self.namespace == 'n'", "!has(self.namespace)"),
    *_each(ODD, ODD_VALUE, "self.g__underscores__h == 'w'", "has(self.a__dash__b)"),
    *_each(LOOSE, {"known": "x", "other": 1}, "self.known == 'x'", "self.known == 'y'"),
    *_each(EMBEDDED, CONFIG, "self.kind == 'ConfigMap'", "self.metadata.name == 'x'"),
    *_each(EMBEDDED, CONFIG, "self.apiVersion == 'v1' && has(self.metadata.generateName)"),
    Case(ruled({**PAIR, "nullable": True}, "self.a == 1"), None),
    Case(ruled(record(a={**NUMBER, "nullable": True}), "has(self.a)"), {"a": None}),
    Case(
        ruled(many({**NUMBER, "nullable": True}), "self.all(x, dyn(x) == null || x > 1)"), [None, 1]
    ),
    Case(ruled(record(a={**NUMBER, "default": 5}), "self.a == 4"), {}),
    Case(record(inner=ruled(PAIR, "self.a > 1")), {"inner": {"a": 1}}),
    Case(many(ruled(NUMBER, "self > 1")), [1, 2, 0]),
    Case(table(ruled(NUMBER, "self > 1")), {"x": 1}),
]
TIMES: Final = [
    *_each(MOMENT, "2024-02-29T12:34:56Z", "self > timestamp('2024-01-01T00:00:00Z')"),
    *_each(MOMENT, "2024-02-29T12:34:56Z", "self.getFullYear() == 2024", "self.getMonth() == 1"),
    *_each(MOMENT, "2024-02-29T12:34:56Z", "self.getDate() == 29", "self.getDayOfWeek() == 4"),
    *_each(MOMENT, "2024-02-29T12:34:56Z", "self.getDayOfYear() == 59", "self.getHours() == 11"),
    *_each(MOMENT, "2024-02-29T12:34:56Z", "self.getHours('+02:00') == 14", "int(self) > 0"),
    *_each(
        MOMENT,
        "2024-02-29T12:34:56Z",
        "self + duration('1h') > self",
        "self - self == duration('0s')",
    ),
    *_each(MOMENT, "2024-02-29T12:34:56.5Z", "string(self) == '2024-02-29T12:34:56.5Z'"),
    *_each(DAY, "2024-02-29", "self.getDate() == 29", "self < timestamp('2024-02-29T00:00:01Z')"),
    *_each(
        SPAN, "1h30m", "self == duration('90m')", "self.getMinutes() == 90", "self < duration('1h')"
    ),
    *_each(
        SPAN, "1h30m", "self.getHours() == 1", "string(self) == '5400s'", "self.getSeconds() == 1"
    ),
    *_each(many(SPAN), ["1s", "2s"], "self.sum() == duration('3s')", "self.isSorted()"),
    *_each(TEXT, "10s", "duration(self) < duration('1m')", "duration('-' + self) < duration('0s')"),
    *_each(TEXT, "nonsense", "duration(self) < duration('1m')", "timestamp(self).getHours() == 1"),
]
KUBERNETES: Final = [
    *_each(
        TEXT, "https://u@a.b:80/c%20d?x=1&x=2", "isURL(self)", "url(self).getScheme() == 'https'"
    ),
    *_each(TEXT, "https://u@a.b:80/c%20d?x=1&x=2", "url(self).getHost() == 'a.b:80'"),
    *_each(TEXT, "https://u@a.b:80/c%20d?x=1&x=2", "url(self).getHostname() == 'a.b'"),
    *_each(TEXT, "https://u@a.b:80/c%20d?x=1&x=2", "url(self).getPort() == '80'"),
    *_each(TEXT, "https://u@a.b:80/c%20d?x=1&x=2", "url(self).getEscapedPath() == '/c%20d'"),
    *_each(TEXT, "https://u@a.b:80/c%20d?x=1&x=2", "url(self).getQuery()['x'] == ['1', '2']"),
    *_each(
        TEXT, "https://[::1]:80", "url(self).getHostname() == '::1'", "url(self).getPort() == '81'"
    ),
    *_each(TEXT, "/path", "isURL(self)", "url(self).getHost() == ''"),
    *_each(TEXT, "a b", "isURL(self)", "url(self).getHost() == ''"),
    *_each(TEXT, "http://a:b/", "isURL(self)"),
    *_each(TEXT, "mailto:x", "isURL(self)"),
    *_each(TEXT, "10.1.2.3", "isIP(self)", "ip(self).family() == 4", "ip(self).isGlobalUnicast()"),
    *_each(
        TEXT,
        "10.1.2.3",
        "ip.isCanonical(self)",
        "string(ip(self)) == self",
        "ip(self).isLoopback()",
    ),
    *_each(TEXT, "10.1.2.3", "cidr('10.0.0.0/8').containsIP(self)", "ip(self) == ip('10.1.2.3')"),
    *_each(TEXT, "2001:DB8::1", "isIP(self)", "ip.isCanonical(self)", "ip(self).family() == 6"),
    *_each(TEXT, "::ffff:1.2.3.4", "isIP(self)"),
    *_each(TEXT, "fe80::1%eth0", "isIP(self)"),
    *_each(TEXT, "010.1.2.3", "isIP(self)"),
    *_each(TEXT, "127.0.0.1", "ip(self).isLoopback()", "ip(self).isUnspecified()"),
    *_each(TEXT, "169.254.1.1", "ip(self).isLinkLocalUnicast()", "ip(self).isLinkLocalMulticast()"),
    *_each(TEXT, "10.1.2.3/8", "isCIDR(self)", "cidr(self).prefixLength() == 8", "isIP(self)"),
    *_each(
        TEXT,
        "10.1.2.3/8",
        "string(cidr(self).masked()) == '10.0.0.0/8'",
        "cidr(self).ip() == ip('10.1.2.3')",
    ),
    *_each(
        TEXT,
        "10.1.2.3/8",
        "cidr(self).containsCIDR('10.0.0.0/9')",
        "cidr(self).containsCIDR('0.0.0.0/0')",
    ),
    *_each(TEXT, "10.1.2.3/33", "isCIDR(self)"),
    *_each(TEXT, "1.5Gi", "isQuantity(self)", "quantity(self).isGreaterThan(quantity('1G'))"),
    *_each(
        TEXT, "1.5Gi", "quantity(self).isLessThan(quantity('1Gi'))", "sign(quantity(self)) == 1"
    ),
    *_each(TEXT, "1.5Gi", "quantity(self).isGreaterThan(quantity('2G'))"),
    *_each(TEXT, "2Gi", "quantity(self).isInteger()", "quantity(self).asInteger() == 2147483648"),
    *_each(
        TEXT, "200m", "quantity(self).isInteger()", "quantity(self).asApproximateFloat() == 0.2"
    ),
    *_each(
        TEXT,
        "200m",
        "quantity(self).add(quantity('800m')) == quantity('1')",
        "quantity(self).asInteger() == 1",
    ),
    *_each(
        TEXT,
        "200m",
        "quantity(self).sub(1).compareTo(quantity('-800m')) == 0",
        "quantity('x') == quantity(self)",
    ),
    *_each(TEXT, "bad", "isQuantity(self)", "quantity(self).isInteger()"),
    *_each(
        TEXT,
        "1.2.3-rc.1",
        "isSemver(self)",
        "semver(self).major() == 1",
        "semver(self).patch() == 4",
    ),
    *_each(
        TEXT,
        "1.2.3-rc.1",
        "semver(self).isLessThan(semver('1.2.3'))",
        "semver(self).compareTo(semver('1.2.3-rc.2')) == -1",
    ),
    *_each(
        TEXT, "v1.02", "isSemver(self)", "isSemver(self, true)", "semver(self, true).minor() == 2"
    ),
    *_each(
        TEXT,
        "My_Label",
        "!format.dns1123Label().validate(self).hasValue()",
        "format.named('dns1123Label').hasValue()",
    ),
    *_each(
        TEXT,
        "My_Label",
        "!format.qualifiedName().validate(self).hasValue()",
        "format.named('nope').hasValue()",
    ),
    *_each(
        TEXT,
        "my-",
        "!format.dns1123LabelPrefix().validate(self).hasValue()",
        "!format.dns1123Label().validate(self).hasValue()",
    ),
    *_each(
        TEXT,
        "2024-02-30",
        "!format.date().validate(self).hasValue()",
        "!format.uuid().validate(self).hasValue()",
    ),
    *_each(
        TEXT,
        "YWJj",
        "!format.byte().validate(self).hasValue()",
        "!format.uri().validate(self).hasValue()",
    ),
]


def _said(**more: Any) -> Schema:
    return ruled(PAIR, {"rule": "self.a > 1", **more})


MESSAGES: Final = [
    Case(_said(message="a must be larger"), {"a": 1}),
    Case(_said(message=" a must be larger "), {"a": 1}),
    Case(_said(messageExpression="self.a == 1 ? 'one' : 'more'"), {"a": 1}),
    Case(_said(messageExpression="'a is ' + self.b", message="said otherwise"), {"a": 1}),
    Case(_said(messageExpression="'line\\nbreak'"), {"a": 1}),
    Case(_said(messageExpression="'  '", message="instead"), {"a": 1}),
    *(
        Case(_said(reason=reason, message="not so"), {"a": 1})
        for reason in (
            *("FieldValueInvalid", "FieldValueForbidden"),
            *("FieldValueRequired", "FieldValueDuplicate"),
        )
    ),
    Case(_said(fieldPath=".a", message="not so"), {"a": 1}),
    Case(_said(fieldPath="['a']"), {"a": 1}),
    Case(ruled(NUMBER, {"rule": "self > 1", "reason": "FieldValueDuplicate"}), 1),
    Case(ruled(PAIR, "self.a > 1", "self.b == 'x'", "self.a > 2"), {"a": 1, "b": "y"}),
    Case(
        ruled(record(m=table(NUMBER)), {"rule": "self.m.x > 1", "fieldPath": ".m.x"}),
        {"m": {"x": 1}},
    ),
]

IMMUTABLE: Final = "self == oldSelf"
OPTIONAL: Final = {"rule": "oldSelf.hasValue() || self > 1", "optionalOldSelf": True}
TRANSITIONS: Final = [
    Case(ruled(NUMBER, IMMUTABLE), 1),
    Case(ruled(NUMBER, IMMUTABLE), 1, 1),
    Case(ruled(NUMBER, IMMUTABLE), 2, 1),
    Case(ruled(NUMBER, "self >= oldSelf"), 1, 2),
    Case(ruled(NUMBER, OPTIONAL), 1),
    Case(ruled(NUMBER, OPTIONAL), 1, 0),
    Case(ruled(PAIR, "has(self.b) == has(oldSelf.b)"), {"a": 1}, {"a": 1, "b": "x"}),
    Case(ruled(PAIR, IMMUTABLE), {"a": 1}, {"a": 1}),
    Case(record(inner=ruled(PAIR, IMMUTABLE)), {"inner": {"a": 2}}, {}),
    Case(record(inner=ruled(PAIR, IMMUTABLE)), {"inner": {"a": 2}}, {"inner": {"a": 1}}),
    Case(ruled(UNIQUE, IMMUTABLE), ["b", "a"], ["a", "b"]),
    Case(ruled(many(TEXT), IMMUTABLE), ["b", "a"], ["a", "b"]),
    Case(ruled(UNIQUE, "oldSelf.all(x, x in self)"), ["b"], ["a", "b"]),
    Case(
        {**NAMED, "items": ruled(NAMED["items"], "self.size >= oldSelf.size")},
        [{"name": "b", "size": 0}, {"name": "a", "size": 1}],
        [{"name": "a", "size": 2}, {"name": "b", "size": 0}],
    ),
    Case(
        ruled(NAMED, IMMUTABLE),
        [{"name": "b", "size": 0}, {"name": "a", "size": 2}],
        [{"name": "a", "size": 2}, {"name": "b", "size": 0}],
    ),
    Case(table(ruled(NUMBER, IMMUTABLE)), {"x": 2, "y": 1}, {"x": 1}),
    Case(ruled(LOOSE, IMMUTABLE), {"known": "x", "other": 2}, {"known": "x", "other": 1}),
    # What was wrong before, and is not touched, is left alone.
    Case(ruled(NUMBER, "self > 1"), 1, 1),
    Case(ruled(NUMBER, "self > 1"), 0, 1),
    Case(ruled(PAIR, "self.a > 1"), {"a": 1}, {"a": 1}),
    Case(ruled(PAIR, "self.a > 1"), {"a": 1, "b": "new"}, {"a": 1}),
    Case(
        record(inner=ruled(PAIR, "self.a > 1"), other=TEXT),
        {"inner": {"a": 1}, "other": "x"},
        {"inner": {"a": 1}},
    ),
    Case({**TEXT, "pattern": "^a"}, "b", "b"),
    Case({**TEXT, "pattern": "^a"}, "c", "b"),
    Case({**TEXT, "enum": ["a"]}, "b", "b"),
    Case({**NUMBER, "minimum": 5}, 1, 1),
    Case(record("a", a=NUMBER, b=TEXT), {"b": "x"}, {"b": "x"}),
    Case(record("a", a=NUMBER, b=TEXT), {"b": "y"}, {"b": "x"}),
    Case(many({**NUMBER, "minimum": 5}), [1], [1]),
    Case(many({**NUMBER, "minimum": 5}), [1, 6], [1]),
    Case(many(ruled(NUMBER, "self > 5")), [1, 6], [1]),
    Case(
        {**NAMED, "items": record("name", name=TEXT, size={**NUMBER, "minimum": 5})},
        [{"name": "a", "size": 1}, {"name": "b", "size": 6}],
        [{"name": "a", "size": 1}],
    ),
    Case(UNIQUE, ["a", "a", "b"], ["a", "a"]),
    Case(table({**NUMBER, "minimum": 5}), {"x": 1, "y": 6}, {"x": 1}),
    Case(table({**NUMBER, "minimum": 5}), {"x": 1, "y": 2}, {"x": 1}),
]
BLOCKED: Final = [
    Case(ruled(PAIR, "self.a > 1"), {"a": "text"}),
    Case(ruled({**TEXT, "maxLength": 2}, "self == 'x'"), "long"),
    Case(ruled({**TEXT, "enum": ["x"]}, "self == 'x'"), "y"),
    Case(ruled({**NUMBER, "minimum": 5}, "self > 6"), 1),
    Case(ruled({**TEXT, "pattern": "^x"}, "self == 'xx'"), "y"),
]
CASES: Final = [
    *OPERATORS,
    *TEXTS,
    *COLLECTIONS,
    *OBJECTS,
    *TIMES,
    *KUBERNETES,
    *MESSAGES,
    *TRANSITIONS,
    *BLOCKED,
]

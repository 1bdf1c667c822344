from __future__ import annotations

from reflet.apirules.validation.custom.compiled_rules import compiled_rules
from tests.unit.apirules.validation.custom.rule_scene import NUMBER, judged, record, ruled


def test_a_schema_without_rules_needs_nothing() -> None:
    assert compiled_rules(record(a=NUMBER)) is None


def test_rules_are_found_wherever_they_are() -> None:
    schema = record(
        a=ruled(NUMBER, "self > 1"),
        b={"type": "array", "items": ruled(NUMBER, "self > 1")},
        c={"type": "object", "additionalProperties": ruled(NUMBER, "self > 1")},
        d=NUMBER,
    )

    node = compiled_rules(schema)

    assert node is not None
    assert set(node.properties) == {"a", "b", "c"}
    assert node.properties["b"].items is not None
    assert node.properties["c"].values is not None


def test_a_rule_says_why_it_does_not_compile() -> None:
    texts = ("self.x", "self.a", "  ")
    broken = {"rule": "true", "messageExpression": "self.x"}
    number = {"rule": "true", "messageExpression": "self.a"}
    node = compiled_rules(ruled(record(a=NUMBER), *texts, broken, number))

    assert node is not None
    field, kind, empty, message, no_text = node.rules
    assert field.problem.startswith("compilation failed: ERROR: <input>:1:5: undefined field 'x'")
    assert kind.problem == "cel expression must evaluate to a bool"
    assert (empty.problem, empty.expression) == ("", None)
    assert message.message_problem.startswith("messageExpression compilation failed: ERROR")
    assert no_text.message_problem == "messageExpression must evaluate to a string"


def test_a_word_of_the_language_is_a_field_under_both_names() -> None:
    schema = ruled(
        record(namespace={"type": "string"}),
        {"rule": "self.namespace == 'a'", "message": "plain"},
        {"rule": "self.__namespace__ == 'a'", "message": "escaped"},
    )

    assert judged(schema, {"namespace": "a"}) == ([], [])
    plain, escaped = judged(schema, {"namespace": "b"})[0]
    assert plain.endswith("plain")
    assert escaped.endswith("escaped")


def test_a_rule_knows_whether_it_compares_with_the_old_value() -> None:
    node = compiled_rules(ruled(record(a=NUMBER), "self == oldSelf", "self.a > 1"))

    assert node is not None
    assert [rule.is_transition for rule in node.rules] == [True, False]

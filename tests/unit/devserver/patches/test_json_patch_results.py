from __future__ import annotations

from reflet.devserver.patches.json_patch import unreadable_result, unreadable_strategic_result


def test_the_result_of_a_patch_is_shown_as_json() -> None:
    refusal = unreadable_result({"b": 1, "a": "<"}, "no good")

    assert refusal.message == (
        r' "" is invalid: patch: Invalid value: "{\"a\":\"\\u003c\",\"b\":1}": no good'
    )


def test_of_a_strategic_patch_the_patch_is_shown() -> None:
    refusal = unreadable_strategic_result({"spec": {"replicas": "x"}}, "no good")

    assert (refusal.code, refusal.causes[0].message, refusal.causes[0].field) == (
        422,
        'Invalid value: "map[spec:map[replicas:x]]": no good',
        "patch",
    )

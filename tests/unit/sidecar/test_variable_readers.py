"""How the text of a variable becomes a value, and which texts are refused."""

import re
import signal

import pytest

from reflet.sidecar.variable_readers import (
    Reader,
    ResourceName,
    Tolerated,
    encoding,
    exact_truth,
    file_mode,
    folders,
    http_method,
    log_format,
    log_level,
    named_objects,
    namespaces,
    needed,
    number,
    one_of,
    port,
    seconds_if_any,
    selector,
    signal_if_any,
    truth,
    whole_number,
)


@pytest.mark.parametrize(
    ("text", "loosely", "exactly"),
    [
        ("true", True, True),
        ("True", True, False),
        ("TRUE", True, False),
        (" true", False, False),
        ("1", False, False),
        ("yes", False, False),
        ("", False, False),
        ("false", False, False),
    ],
)
def test_truth_is_the_originals(text: str, loosely: bool, exactly: bool) -> None:
    assert (truth(text), exact_truth(text)) == (loosely, exactly)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n1,n2", ("n1", "n2")),
        ("n1, n2", ("n1", "n2")),
        ("n2,n1,n2,", ("n2", "n1")),
        ("n1,ALL", ("ALL",)),
        ("all", ("all",)),
        ("", ()),
    ],
)
def test_namespaces_are_trimmed_and_counted_once(text: str, value: tuple[str, ...]) -> None:
    assert namespaces(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("440", 0o440), ("0600", 0o600), ("0o440", 0o440), ("", None), ("7777", 0o7777)],
)
def test_a_mode_is_octal(text: str, value: int | None) -> None:
    assert file_mode(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("HUP", 1), ("sighup", 1), ("1", 1), ("SIGUSR1", signal.SIGUSR1), ("", None)],
)
def test_a_signal_has_a_name_or_a_number(text: str, value: int | None) -> None:
    assert signal_if_any(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", [ResourceName("a")]),
        ("configmap/a", [ResourceName("a", "configmap")]),
        ("n/secret/b", [ResourceName("b", "secret", "n")]),
        ("a, b.c-d ,a", [ResourceName("a"), ResourceName("b.c-d")]),
        ("", []),
    ],
)
def test_a_name_is_as_precise_as_it_is_given(text: str, value: list[ResourceName]) -> None:
    assert named_objects(text) == tuple(value)


@pytest.mark.parametrize(
    ("reader", "text", "words"),
    [
        (needed, "", "is empty"),
        (selector, "", "is empty"),
        (selector, "a in (", "is no label selector: "),
        (one_of("configmap", "secret"), "pods", "'pods' is none of configmap, secret"),
        (whole_number, "", "'' is not a whole number"),
        (whole_number, "1.5", "'1.5' is not a whole number"),
        (whole_number, "-1", "'-1' is negative"),
        (number, "soon", "'soon' is not a number of 0 or more"),
        (number, "nan", "'nan' is not a number of 0 or more"),
        (number, "inf", "'inf' is not a number of 0 or more"),
        (seconds_if_any, "a", "'a' is not a number of 0 or more"),
        (file_mode, "rw", "'rw' is not a mode in octal digits, like 0640"),
        (file_mode, "888", "'888' is not a mode in octal digits, like 0640"),
        (file_mode, "17777", "'17777' is not a mode in octal digits, like 0640"),
        (log_level, "loud", "'loud' is no level: use DEBUG, INFO, WARNING or ERROR"),
        (signal_if_any, "HANG", "'HANG' is not the name of a signal"),
        (folders, "/a,b", "'b' does not begin with a slash"),
        (named_objects, "a/b/c/d", "'a/b/c/d' is none of NAME, KIND/NAME and NAMESPACE/KIND/NAME"),
        (named_objects, "/secret/d", "'/secret/d' is none of NAME, KIND/NAME and"),
        (named_objects, "pod/x", "'pod/x': 'pod' is neither configmap nor secret"),
        (named_objects, "A", "'A' is none of NAME"),
    ],
)
def test_a_text_that_means_nothing_is_refused_in_words(
    reader: Reader, text: str, words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        reader(text)

    assert not isinstance(refused.value, Tolerated)


@pytest.mark.parametrize(
    ("reader", "text", "value"), [(port, "http", 0), (port, "", 0), (log_format, "YAML", "JSON")]
)
def test_what_the_original_survives_is_a_warning(reader: Reader, text: str, value: object) -> None:
    with pytest.raises(Tolerated) as tolerated:
        reader(text)

    assert tolerated.value.value == value


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (http_method, "", "GET"),
        (http_method, "post", "POST"),
        (log_level, "", "INFO"),
        (log_level, "debug", "DEBUG"),
        (log_format, "logfmt", "LOGFMT"),
        (encoding, "", "latin1"),
        (port, "8080", 8080),
        (seconds_if_any, "", None),
        (seconds_if_any, "0", None),
        (seconds_if_any, "66", 66.0),
        (folders, "/a, /b", ("/a", "/b")),
        (selector, "findme in (x,y),!z", "findme in (x,y),!z"),
    ],
)
def test_a_text_that_means_something_is_that(reader: Reader, text: str, value: object) -> None:
    assert reader(text) == value

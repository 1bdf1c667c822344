from reflet.api.codec import decode, encode
from reflet.api.core.small_kinds import Event


def test_an_event_is_kept_whole() -> None:
    text = (
        b'{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"kind":"Pod",'
        b'"name":"p","fieldPath":"spec"},"reason":"R","message":"m","source":{"component":"c",'
        b'"host":"h"},"firstTimestamp":"2026-01-02T03:04:05Z","count":2,"type":"Warning",'
        b'"eventTime":"2026-01-02T03:04:05.000000Z","series":{"count":3,'
        b'"lastObservedTime":"2026-01-02T03:04:05.000001Z"},"action":"a","related":{"name":"r"},'
        b'"reportingComponent":"rc","reportingInstance":"ri"}'
    )

    assert encode(decode(text, Event)) == text
    assert Event.complete


def test_an_event_time_may_be_null() -> None:
    assert decode(b'{"metadata":{"name":"e"},"eventTime":null}', Event).event_time is None

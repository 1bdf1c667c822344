"""Every error that Reflet raises, and what each promises.

::

    RefletError
    ├── ConfigurationError      the caller's own settings: kubeconfig, flags, arguments
    ├── CredentialsError        credentials could not be obtained (exec plugin, token file)
    ├── DecodeError             bytes that are not the object they should be
    ├── MisuseError             the wrong process, event loop or thread, or closed already
    ├── ParseError              a selector, quantity or other small text is malformed
    ├── TransportError          no answer: refused, reset, TLS, time-out
    │   ├── ConnectionRefused
    │   ├── DeadlineExceeded    no answer, or no byte of a stream, in time
    │   └── TLSFailure          the server's certificate, or ours, was not accepted
    ├── RpcError                a container runtime refused, or gave no answer (gRPC)
    │   ├── RpcNotFound, RpcAlreadyExists, RpcUnimplemented
    │   ├── RpcUnavailable      nobody listens, or the connection broke; a TransportError too
    │   └── RpcDeadlineExceeded no answer in time; a DeadlineExceeded too
    ├── NotRegistered           no registered pod refers to the object that is asked for
    ├── CacheNotSynced          the object asked for did not arrive in time
    └── ApiError                the server answered with a Status
        ├── BadRequest, Unauthorized, Forbidden, NotFound, AlreadyExists, Conflict,
        │   Invalid, MethodNotSupported, NotAcceptable, UnsupportedMediaType,
        │   RequestEntityTooLarge, ServerTimeout, ServiceUnavailable, InternalError,
        │   Timeout
        ├── Gone, Expired       the version asked for is no longer in the server's history
        └── TooManyRequests

Errors carry facts as attributes; the message is one line that names what to fix.  Foreign
exceptions are translated once, where the foreign library is imported, with ``raise … from``.
This module must not know where errors come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class RefletError(Exception):
    """Anything that goes wrong in Reflet, and nothing else."""


class ConfigurationError(RefletError):
    """A setting is missing or wrong; the message names the file and field, or the flag."""


class CredentialsError(RefletError):
    """Credentials could not be obtained; the message names the plugin or file."""


class DecodeError(RefletError):
    """Bytes or text that cannot become the object asked for.

    ``path`` is the place inside the object (``spec.containers[0].name``), empty when it is
    not known.

    - *message*: what is wrong
    - *path*: place inside the object
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        self.path = path
        super().__init__(message)


class MisuseError(RefletError, RuntimeError):
    """Used in a process, event loop or thread where it cannot work, or after it was closed."""


class ParseError(RefletError):
    """A selector, a quantity or another small text is malformed; the message quotes it."""


class TransportError(RefletError):
    """The server could not be reached, or the connection broke before the answer was whole."""


class ConnectionRefused(TransportError):
    """Nobody listens at the server's address."""


class DeadlineExceeded(TransportError):
    """No answer, or no byte of a stream, arrived in time."""


class TLSFailure(TransportError):
    """The server's certificate, or ours, was not accepted."""


class RpcError(RefletError):
    """A call by gRPC failed: ``code`` is the name of gRPC's code, ``method`` what was called.

    The message is what Go's client makes of it, because the kubelet's events quote that.

    - *code*: name of gRPC's code
    - *description*: the server's message
    - *method*: what was called
    """

    def __init__(self, code: str, description: str, *, method: str = "") -> None:
        super().__init__(f"rpc error: code = {code} desc = {description}")
        self.code = code
        self.description = description
        self.method = method


class RpcNotFound(RpcError):
    """The container, sandbox or image is not there."""


class RpcAlreadyExists(RpcError):
    """The name of the new container or sandbox is taken."""


class RpcUnimplemented(RpcError):
    """The server does not have this method."""


class RpcUnavailable(RpcError, TransportError):
    """The server could not be reached, or the connection broke before the answer was whole."""


class RpcDeadlineExceeded(RpcError, DeadlineExceeded):
    """No answer arrived in time."""


class NotRegistered(RefletError, LookupError):
    """No registered pod refers to the object ``name`` in ``namespace``, so nobody keeps it.

    - *namespace*: namespace of the object
    - *name*: name of the object
    """

    def __init__(self, namespace: str, name: str) -> None:
        self.namespace = namespace
        self.name = name
        super().__init__(f'object "{namespace}"/"{name}" not registered')


class CacheNotSynced(RefletError, TimeoutError):
    """The object ``name`` in ``namespace`` is referred to, but it is not known yet.

    ``resource`` is ``secret`` or ``configmap``.  ``__cause__`` is why the server did not give
    it, Forbidden for one, where that is known.

    - *resource*: ``secret`` or ``configmap``
    - *namespace*: namespace of the object
    - *name*: name of the object
    - *reason*: why it is not known
    """

    def __init__(
        self,
        resource: str,
        namespace: str,
        name: str,
        *,
        reason: str = "timed out waiting for the condition",
    ) -> None:
        self.resource = resource
        self.namespace = namespace
        self.name = name
        super().__init__(f"failed to sync {resource} cache: {reason}")


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason inside an API error: ``type`` and ``message``, and the ``field`` it is about.

    - *type*: kind of the problem, such as ``FieldValueInvalid``
    - *message*: what is wrong
    - *field*: path of the field; empty if it is about none
    """

    type: str = ""
    message: str = ""
    field: str = ""


class ApiError(RefletError):
    """The server refused: carries the facts of its ``Status`` and of the request.

    ``verb`` and ``path`` name the request and are empty for errors that came inside a stream.
    Subclasses follow the reason, or the HTTP code when the reason is not a known one; so
    ``except NotFound`` is the predicate.

    - *message*: the server's message
    - *code*: HTTP status code; 0 if there was none
    - *reason*: the ``reason`` of the Status, such as ``NotFound``
    - *verb*: such as ``get``
    - *path*: URL path of the request
    - *group*, *kind*, *name*: what the refusal is about, as far as the server says
    - *retry_after*: seconds that the server asks to wait; None if it does not
    - *causes*: which fields were refused, and why
    """

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        reason: str = "",
        verb: str = "",
        path: str = "",
        group: str = "",
        kind: str = "",
        name: str = "",
        retry_after: float | None = None,
        causes: Sequence[Cause] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.verb = verb
        self.path = path
        self.group = group
        self.kind = kind
        self.name = name
        self.retry_after = retry_after
        self.causes = tuple(causes)


class BadRequest(ApiError):
    """The request is malformed."""


class Unauthorized(ApiError):
    """The server does not know who is asking: no credentials, or expired ones."""


class Forbidden(ApiError):
    """The server knows who is asking and does not allow it."""


class NotFound(ApiError):
    """No such object, or no such resource."""


class AlreadyExists(ApiError):
    """An object of that name is there already."""


class Conflict(ApiError):
    """The object changed since it was read, or a precondition failed."""


class Invalid(ApiError):
    """The object breaks a rule of its kind; ``causes`` name the fields."""


class MethodNotSupported(ApiError):
    """The resource does not have this verb."""


class NotAcceptable(ApiError):
    """The server cannot answer in the form asked for."""


class UnsupportedMediaType(ApiError):
    """The server does not read the form that was sent."""


class RequestEntityTooLarge(ApiError):
    """The object sent is larger than the server takes."""


class Gone(ApiError):
    """What was asked for existed once and does not come back."""


class Expired(ApiError):
    """The version or continue token is older than the server's history."""


class TooManyRequests(ApiError):
    """The server is protecting itself; ``retry_after`` says for how long."""


class InternalError(ApiError):
    """The server failed."""


class ServiceUnavailable(ApiError):
    """The server, or a server behind it, cannot answer now."""


class ServerTimeout(ApiError):
    """The server could not finish in time and asks to try again."""


class Timeout(ApiError):
    """The request ran out of time on the server."""

"""An environment, as people read it and as other programs do: dotenv, shell, Docker and documents.

Nobody gets a value that is not meant for the screen or not known.  In the forms that programs
read, Secret values, unless they may be revealed, and values that are not known become comments: a
mask in their place would be taken for the value.  What ``sh`` and ``dotenv`` write, a shell reads
back exactly, whatever the value.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, assert_never

import msgspec

from reflet.cli.output.masking import mask
from reflet.cli.output.output import API_VERSION, counted, print_fitting_table
from reflet.cli.output.palette import Meaning
from reflet.cli.output.problem_output import problem_document, surroundings_documents
from reflet.errors import RefletError
from reflet.resolution.environment.variables import Assignment, Environment, Variable, exact_bytes
from reflet.resolution.origins import (
    ConfigMapOrigin,
    FieldOrigin,
    FileOrigin,
    Origin,
    ResourceOrigin,
    SecretOrigin,
    ServiceOrigin,
    TokenOrigin,
    TrustBundleOrigin,
    ValueOrigin,
)
from reflet.resolution.pod_inputs import PodInputs

HEADINGS: Final = ("NAME", "VALUE", "FROM")
NOT_KNOWN: Final = "‹not known yet›"
SERVICES_HINT: Final = "see --services"

_BARE: Final = re.compile(r"[A-Za-z0-9_./:@%+,-]*")
_SHELL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOTENV_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")
_ESCAPED: Final = str.maketrans({letter: f"\\{letter}" for letter in '\\"$`'})


def print_environment(
    environment: Environment,
    *,
    reveal: bool,
    no_headers: bool,
    services: bool = True,
    wide: bool = False,
) -> None:
    """Print the variables, their values and where they come from; nothing when there are none.

    Without *services*, one row stands for the variables of all services.
    """
    variables = environment.variables.values()
    folded = [] if services else [each for each in variables if is_of_service(each)]
    rows = [
        (each.name, value_text(each.assignment, reveal=reveal), origin_text(each.origin))
        for each in variables
        if services or not is_of_service(each)
    ]
    if folded:
        rows.append((*counts_of_services(folded), f"({SERVICES_HINT})"))
    if rows:
        print_fitting_table(
            HEADINGS,
            rows,
            flexible=(2, 0, 1),
            no_headers=no_headers,
            wide=wide,
            meaning=cell_meaning,
        )


def cell_meaning(heading: str, cell: str) -> Meaning | None:
    """Say what a cell means: names stand out, sources and masks do not."""
    if heading in {"NAME", "PATH"}:
        return "name"
    return "dim" if heading == "FROM" or cell.startswith("‹") else None


def is_of_service(variable: Variable) -> bool:
    """Tell whether a variable announces a service."""
    return isinstance(variable.origin, ServiceOrigin)


def counts_of_services(variables: Sequence[Variable]) -> tuple[str, str]:
    """Return how many variables there are, and of how many services: two parts of a sentence."""
    services = {
        (each.origin.namespace, each.origin.name)
        for each in variables
        if isinstance(each.origin, ServiceOrigin)
    }
    return counted(len(variables), "variable"), f"of {counted(len(services), 'service')}"


def value_text(assignment: Assignment, *, reveal: bool) -> str:
    """Return a value as a table shows it."""
    if not assignment.known:
        return NOT_KNOWN
    exact = exact_bytes(assignment.value)
    if assignment.sensitive and not reveal:
        return mask(len(exact))
    return exact.decode(errors="backslashreplace")


def origin_text(origin: Origin) -> str:
    """Return the source as people name it: ``configmap/settings LOG_LEVEL``."""
    match origin:
        case ValueOrigin(substitutions=substitutions):
            return "value, expanded" if substitutions else "value"
        case ConfigMapOrigin(name=name, key=key):
            return f"configmap/{name} {key}"
        case SecretOrigin(name=name, key=key):
            return f"secret/{name} {key}"
        case ServiceOrigin(namespace=namespace, name=name):
            return f"service/{name} in {namespace}"
        case FieldOrigin(path=path):
            return path
        case ResourceOrigin(resource=resource, container=container):
            return f"{resource} of {container}" if container else resource
        case FileOrigin(volume=volume, path=path, key=key):
            return f"file {path} of {volume}, {key}"
        case TokenOrigin(service_account=account):
            return f"token of {account or 'default'}"
        case TrustBundleOrigin(name=name, signer_name=signer):
            return f"clustertrustbundle/{name}" if name else f"trust bundles of {signer}"
        case _:
            assert_never(origin)


# For programs


def environment_document(
    inputs: PodInputs, environment: Environment, fixes: Sequence[str], *, reveal: bool
) -> dict[str, Any]:
    """Return an environment for programs."""
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "Environment",
        "namespace": environment.namespace,
        "pod": environment.pod or None,
        "container": environment.container,
        "variables": [
            {
                "name": name,
                **assignment_document(variable.assignment, reveal=reveal),
                "shadows": [
                    assignment_document(shadowed, reveal=reveal) for shadowed in variable.shadows
                ],
            }
            for name, variable in environment.variables.items()
        ],
        "error": environment.error,
        "problems": [
            *(
                problem_document(problem, fix)
                for problem, fix in zip(environment.problems, fixes, strict=True)
            ),
            *surroundings_documents(inputs),
        ],
    }
    if inputs.from_template:
        document["workload"] = {"kind": inputs.kind, "name": inputs.name}
    return document


def assignment_document(assignment: Assignment, *, reveal: bool) -> dict[str, Any]:
    """Return a value and its source for programs; a value that is not known is null."""
    source = msgspec.to_builtins(assignment.origin)
    if not assignment.known:
        return {"value": None, "known": False, "source": source}
    exact = exact_bytes(assignment.value)
    if assignment.sensitive and not reveal:
        return {"value": mask(len(exact)), "source": source}
    try:
        return {"value": exact.decode(), "source": source}
    except UnicodeDecodeError:
        # JSON has no bytes: the text is what can be shown of them.
        shown, encoded = exact.decode(errors="replace"), base64.b64encode(exact).decode()
        return {"value": shown, "base64": encoded, "source": source}


class CannotBeWritten(RefletError):
    """A variable that the form has no way to write; the message names it."""


def written(environment: Environment, form: str, *, reveal: bool) -> bytes:
    """Return the environment in a form of ``FORMS``.

    Raises CannotBeWritten, which names the variable.
    """
    lines = _lines(environment, FORMS[form], reveal=reveal)
    return b"".join(exact_bytes(f"{line}\n") for line in lines)


def _lines(
    environment: Environment, line: Callable[[str, str], str], *, reveal: bool
) -> Iterator[str]:
    for name, variable in environment.variables.items():
        left_out = _reason(variable, reveal=reveal)
        yield f"# {_one_line(name)}: {left_out}" if left_out else line(name, variable.value)


def _reason(variable: Variable, *, reveal: bool) -> str:
    if not variable.assignment.known:
        return "left out, its value is known only in a running pod"
    if variable.sensitive and not reveal:
        return "left out, its value is secret: use --reveal"
    return ""


def _dotenv(name: str, value: str) -> str:
    if not _DOTENV_NAME.fullmatch(name):
        # Some readers know more names; a shell would run some of them as commands.
        return f"# {_one_line(name)}: left out, no name for a variable in a dotenv file"
    if "\0" in value:
        raise CannotBeWritten(f"variable {name} has a zero byte, which no file of variables holds")
    if _BARE.fullmatch(value):
        return f"{name}={value}"
    # Single quotes mean the text itself to a shell, and to nearly every reader; but some take a
    # backslash before the last one for its escape, and read on into the next line.
    if "'" not in value and not value.endswith("\\"):
        return f"{name}='{value}'"
    return f'{name}="{value.translate(_ESCAPED)}"'


def _shell(name: str, value: str) -> str:
    if not _SHELL_NAME.fullmatch(name):
        return f"# {_one_line(name)}: left out, a shell has no variable of that name"
    if "\0" in value:
        raise CannotBeWritten(f"variable {name} has a zero byte, which no shell holds")
    quoted = value.replace("'", "'\\''")
    return f"export {name}='{quoted}'"


def _docker(name: str, value: str) -> str:
    if not name or name.startswith("#") or re.search(r"[\s='\"]", name):
        raise CannotBeWritten(
            f"{_one_line(name)!r} is no name for a variable in docker's --env-file"
        )
    if "\n" in value or "\r" in value:
        raise CannotBeWritten(
            f"variable {name} has several lines, and docker's --env-file has no way to write "
            "them: use -o sh or -o json"
        )
    if "\0" in value:
        raise CannotBeWritten(f"variable {name} has a zero byte, which no file of variables holds")
    return f"{name}={value}"


def _one_line(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


FORMS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "dotenv": _dotenv,
    "sh": _shell,
    "docker": _docker,
}

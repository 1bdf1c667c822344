"""``reflet env``: the environment that a container gets, with where each variable comes from.

Owns: the command and its tables and documents.  Must not know how an environment is resolved,
nor how other programs quote values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli.options.pod_options import PodChoice, choose_container, pod_options, tell_default
from reflet.cli.output.masking import mask
from reflet.cli.output.output import print_json, print_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reflet.api.core.pods import Pod
    from reflet.cli.pod_gathering import Needs, PodInHand
    from reflet.resolution.references import Reference
    from reflet.resolution.variables import Assignment, Environment

API_VERSION: Final = "reflet.dev/v1alpha1"
FORMS: Final = ("table", "json", "yaml", "dotenv", "sh", "docker")
HEADINGS: Final = ("NAME", "VALUE", "FROM")
NOT_KNOWN: Final = "‹not known yet›"


@click.command()
@pod_options
@click.option("-c", "--container", default="", help="Container; kubectl's choice if not given.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--reveal", is_flag=True, help="Show the values of Secrets.")
@click.option("--no-headers", is_flag=True, help="Leave out the headings of tables.")
@click.option(
    "--skip-invalid-names",
    is_flag=True,
    help="Skip keys that are no names for variables, as Kubernetes 1.19 did.",
)
def env(
    choice: PodChoice,
    container: str,
    output: str,
    reveal: bool,
    no_headers: bool,
    skip_invalid_names: bool,
) -> int:
    """Show the environment that a container gets, and where it comes from.

    The pod is one of the cluster, or with -f one of the files, read as if they were applied; a
    workload means the pod of its template.  Values of Secrets are masked unless --reveal is
    given; dotenv, sh and docker leave them out.  Exit code 1: the kubelet would not start the
    container.
    """
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help

    hand = choice.gather(_needs(container))
    chosen = choose_container(hand.pod, container)
    if not container:
        tell_default(hand.pod, chosen)
    environment = hand.environment(chosen, skip_invalid_names=skip_invalid_names)
    fixes = problem_output.fixes_for(hand, environment.problems, [environment])
    if output in {"json", "yaml"}:
        document = environment_document(hand, environment, fixes, reveal=reveal)
        (print_json if output == "json" else print_yaml)(document)
        return 0 if environment.error is None else 1
    problem_output.tell_surroundings(hand)
    problem_output.tell_problems(environment.problems, fixes=fixes)
    if output == "table":
        print_environment(environment, reveal=reveal, no_headers=no_headers)
    elif environment.error is None:  # nobody is given half an environment
        from reflet.cli.output.environment_forms import written  # noqa: PLC0415 - as above

        click.echo(written(environment, output, reveal=reveal), nl=False)
    if environment.error is None:
        return 0
    problem_output.tell("error", f"container {chosen} would not start: {environment.error}")
    return 1


def _needs(container: str) -> Needs:
    from reflet.cli.pod_gathering import Needs  # noqa: PLC0415 - not needed for --help
    from reflet.resolution.references import Usage  # noqa: PLC0415 - as above

    def of_the_container(pod: Pod, reference: Reference) -> bool:
        if reference.usage not in {Usage.ENV, Usage.ENV_FROM}:
            return False
        return reference.place.container == choose_container(pod, container)

    return Needs(references=of_the_container)


def environment_document(
    hand: PodInHand, environment: Environment, fixes: Sequence[str], *, reveal: bool
) -> dict[str, Any]:
    """Return an environment for programs."""
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help

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
                problem_output.problem_document(problem, fix)
                for problem, fix in zip(environment.problems, fixes, strict=True)
            ),
            *problem_output.surroundings_documents(hand),
        ],
    }
    if hand.from_template:
        document["workload"] = {"kind": hand.kind, "name": hand.name}
    return document


def assignment_document(assignment: Assignment, *, reveal: bool) -> dict[str, Any]:
    """Return a value and its source for programs; a value that is not known is null."""
    import msgspec  # noqa: PLC0415 - not needed for --help

    from reflet.resolution.variables import exact_bytes  # noqa: PLC0415 - as above

    source = msgspec.to_builtins(assignment.origin)
    if not assignment.known:
        return {"value": None, "known": False, "source": source}
    exact = exact_bytes(assignment.value)
    if assignment.sensitive and not reveal:
        return {"value": mask(len(exact)), "source": source}
    try:
        return {"value": exact.decode(), "source": source}
    except UnicodeDecodeError:
        import base64  # noqa: PLC0415 - rarely needed

        # JSON has no bytes: the text is what can be shown of them.
        shown, encoded = exact.decode(errors="replace"), base64.b64encode(exact).decode()
        return {"value": shown, "base64": encoded, "source": source}


def value_text(assignment: Assignment, *, reveal: bool) -> str:
    """Return a value as a table shows it."""
    from reflet.resolution.variables import exact_bytes  # noqa: PLC0415 - not for --help

    if not assignment.known:
        return NOT_KNOWN
    exact = exact_bytes(assignment.value)
    if assignment.sensitive and not reveal:
        return mask(len(exact))
    return exact.decode(errors="backslashreplace")


def print_environment(environment: Environment, *, reveal: bool, no_headers: bool) -> None:
    """Print the variables, their values and where they come from."""
    from reflet.cli.output.origin_text import origin_text  # noqa: PLC0415 - not needed for --help
    from reflet.cli.output.output import print_fitting_table  # noqa: PLC0415 - as above

    rows = [
        (name, value_text(variable.assignment, reveal=reveal), origin_text(variable.origin))
        for name, variable in environment.variables.items()
    ]
    print_fitting_table(HEADINGS, rows, flexible=1, no_headers=no_headers)

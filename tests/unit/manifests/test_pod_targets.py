"""The pod that is meant is found, or it is said which ones there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import ConfigurationError, Invalid
from reflet.manifests.applying import read_applied
from reflet.manifests.pod_targets import choose_pod, pod_targets
from tests.unit.manifests.texts import POD, applied, config_map

CRON_JOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: dump, image: shop/dump}]}
"""
OTHER_POD = POD.replace("{name: web}\nspec", "{name: other}\nspec")
SAME_POD_ELSEWHERE = POD.replace("{name: web}\nspec", "{name: web, namespace: shop}\nspec")
REFUSED_POD = POD.replace("shop/web", "''").replace("{name: web}\nspec", "{name: bad}\nspec")


def test_the_only_pod_needs_no_name(tmp_path: Path) -> None:
    chosen = choose_pod(applied(tmp_path, config_map(), POD), None)

    assert (str(chosen), chosen.place) == ("pod/web", f"{tmp_path}/manifests.yaml:7")


def test_a_cron_job_means_the_pods_of_its_jobs(tmp_path: Path) -> None:
    chosen = choose_pod(applied(tmp_path, POD, CRON_JOB), ("cj", "nightly"))

    assert chosen.pod.spec.containers[0].name == "dump"


def test_two_pods_and_no_name_is_a_question(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_pod(applied(tmp_path, POD, CRON_JOB), None)

    assert str(caught.value) == (
        "the files hold several pods: pod/web, cronjob/nightly; say which one"
    )


def test_a_name_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_pod(applied(tmp_path, POD, OTHER_POD), ("pod", "wbe"))

    assert str(caught.value) == "the files hold no pod/wbe; they hold pod/web, pod/other"


def test_files_without_pods_say_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="hold no pod and nothing that makes pods"):
        choose_pod(applied(tmp_path, config_map()), None)


def test_a_kind_that_is_not_known_is_named_where_a_pod_is_missed(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_pod(applied(tmp_path, POD.replace("kind: Pod", "kind: Pods")), None)

    assert str(caught.value) == (
        "the files hold no pod and nothing that makes pods; "
        f"{tmp_path}/manifests.yaml:1: the API server would refuse it: "
        'no matches for kind "Pods" in version "v1" (did you mean Pod?)'
    )


def test_one_name_in_two_namespaces_needs_the_namespace(tmp_path: Path) -> None:
    found = applied(tmp_path, POD, SAME_POD_ELSEWHERE)

    with pytest.raises(ConfigurationError) as caught:
        choose_pod(found, ("pod", "web"))

    assert str(caught.value) == (
        "the files hold several pods: pod/web in default, pod/web in shop; "
        "say which namespace with -n"
    )
    assert choose_pod(found, ("pod", "web"), "shop").namespace == "shop"


def test_a_namespace_without_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no pod/web in namespace shop; they hold pod/web"):
        choose_pod(applied(tmp_path, POD), ("pod", "web"), "shop")


def test_a_pod_that_the_server_would_refuse_is_refused_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as caught:
        choose_pod(applied(tmp_path, REFUSED_POD), None)

    assert str(caught.value) == (
        f"{tmp_path}/manifests.yaml:1: the API server would refuse it: "
        'Pod "bad" is invalid: spec.containers[0].image: Required value'
    )


def test_a_refused_pod_beside_another_makes_it_a_question(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="several pods: pod/web, pod/bad"):
        choose_pod(applied(tmp_path, POD, REFUSED_POD), None)


def test_a_pod_whose_change_is_refused_is_still_there(tmp_path: Path) -> None:
    found = applied(tmp_path, POD, POD.replace("name: web, image", "name: other, image"))

    assert choose_pod(found, ("pod", "web")).pod.spec.containers[0].name == "web"


def test_a_pod_whose_name_is_only_begun_is_called_by_its_beginning(tmp_path: Path) -> None:
    unnamed = POD.replace("name: web}\nspec", "generateName: web-}\nspec")

    assert choose_pod(applied(tmp_path, unnamed), ("po", "web-")).pod.metadata.name == ""


def test_many_pods_are_not_all_listed(tmp_path: Path) -> None:
    pods = [POD.replace("{name: web}\nspec", f"{{name: web-{n}}}\nspec") for n in range(11)]

    with pytest.raises(ConfigurationError, match="pod/web-4 and 6 more; say which one"):
        choose_pod(applied(tmp_path, *pods), None)
    with pytest.raises(ConfigurationError, match=r"hold no pod/x; they hold .*web-4 and 6 more$"):
        choose_pod(applied(tmp_path, *pods), ("pod", "x"))


def test_one_that_is_in_several_files_is_answered_with_the_flag_for_one(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(POD)

    with pytest.raises(ConfigurationError, match=f"; name one: -f {tmp_path}/a.yaml$"):
        choose_pod(read_applied([str(tmp_path)]), ("pod", "web"))


def test_a_refused_pod_is_returned_as_it_was_written_to_whoever_wants_it(tmp_path: Path) -> None:
    chosen = choose_pod(applied(tmp_path, REFUSED_POD), None, refused=True)

    assert (str(chosen), chosen.namespace) == ("pod/bad", "default")
    assert [container.image for container in chosen.pod.spec.containers] == [""]


def test_a_refused_pod_that_cannot_be_read_is_refused_all_the_same(tmp_path: Path) -> None:
    unnamed = REFUSED_POD.replace("metadata: {name: bad}", "metadata: {}")

    with pytest.raises(Invalid, match="the API server would refuse it"):
        choose_pod(applied(tmp_path, unnamed), None, refused=True)


def test_every_pod_may_mean_the_refused_ones_too(tmp_path: Path) -> None:
    found = applied(tmp_path, POD, REFUSED_POD, config_map())

    assert [str(each) for each in pod_targets(found)] == ["pod/web"]
    assert [str(each) for each in pod_targets(found, refused=True)] == ["pod/web", "pod/bad"]


ROLLOUT = """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: roll}
spec:
  template:
    spec: {containers: [{name: c, image: i}]}
"""
BARE = "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: bare}\n"
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollen.argoproj.io}
spec:
  group: argoproj.io
  scope: Namespaced
  names: {kind: Rollout, plural: rollen, singular: rollout, shortNames: [ro]}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


@pytest.mark.parametrize("type_", ["Rollout", "rollout", "rollouts", "rollout.argoproj.io"])
def test_a_custom_workload_is_meant_by_its_kind_or_the_usual_plural(
    tmp_path: Path, type_: str
) -> None:
    chosen = choose_pod(applied(tmp_path, POD, ROLLOUT), (type_, "roll"))

    assert (str(chosen), chosen.pod.metadata.generate_name) == ("rollout/roll", "roll-")
    assert chosen.resource is not None
    assert chosen.resource.full_name == "rollouts.argoproj.io"


def test_a_definition_among_the_files_tells_the_plural_and_short_names(tmp_path: Path) -> None:
    found = applied(tmp_path, ROLLOUT, DEFINITION)

    for type_ in ("rollen", "ro", "rollout"):
        assert str(choose_pod(found, (type_, "roll"))) == "rollout/roll"
    with pytest.raises(ConfigurationError, match="there is no resource 'rollouts'"):
        choose_pod(found, ("rollouts", "roll"))


def test_a_custom_object_without_a_template_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_pod(applied(tmp_path, BARE, POD), ("rollout", "bare"))

    assert str(caught.value) == "rollout bare has no pod template"


def test_kinds_of_kubernetes_win_over_custom_ones_of_the_same_name(tmp_path: Path) -> None:
    kruise = ROLLOUT.replace("argoproj.io/v1alpha1", "apps.kruise.io/v1beta1").replace(
        "kind: Rollout", "kind: CronJob"
    )
    both = applied(tmp_path, CRON_JOB, kruise)

    assert choose_pod(both, ("cronjob", "nightly")).resource is None
    assert choose_pod(both, ("cronjob.apps.kruise.io", "roll")).name == "roll"
    assert choose_pod(applied(tmp_path, kruise), ("cronjob", "roll")).name == "roll"


def test_a_knative_service_is_a_workload_though_a_service_is_none(tmp_path: Path) -> None:
    knative = ROLLOUT.replace("argoproj.io/v1alpha1", "serving.knative.dev/v1").replace(
        "kind: Rollout", "kind: Service"
    )

    assert str(choose_pod(applied(tmp_path, knative), ("service", "roll"))) == "service/roll"
    with pytest.raises(ConfigurationError, match="services are no pods and make none"):
        choose_pod(applied(tmp_path, POD), ("service", "roll"))

"""The pod that is meant is found, or it is said which ones there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import ConfigurationError, Invalid
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

    with pytest.raises(ConfigurationError, match="pod/web-7 and 3 more; say which one"):
        choose_pod(applied(tmp_path, *pods), None)


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

"""A pod template gets the defaults of pods wherever it stands."""

from __future__ import annotations

import pytest

from reflet.apirules.defaults.templates import filled_template
from reflet.errors import DecodeError


def test_a_template_is_filled_as_in_a_deployment() -> None:
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 80}]}
    volume = {"name": "v", "configMap": {"name": "m"}}

    made = filled_template({"spec": {"containers": [container], "volumes": [volume]}, "other": 1})

    spec = made["spec"]
    assert "other" not in made
    assert spec["restartPolicy"] == "Always"
    assert spec["volumes"][0]["configMap"]["defaultMode"] == 0o644
    assert spec["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


def test_a_value_of_a_wrong_type_is_refused() -> None:
    with pytest.raises(DecodeError, match="containers"):
        filled_template({"spec": {"containers": "none"}})

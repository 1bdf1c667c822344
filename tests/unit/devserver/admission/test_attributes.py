"""The seam between verbs and admission."""

from __future__ import annotations

from reflet.devserver.admission.attributes import Admission, AdmitsEverything
from tests.unit.devserver.admission.admission_scene import attributes, target


async def test_without_admission_every_write_passes_as_it_is() -> None:
    admission: Admission = AdmitsEverything()
    write = attributes()

    await admission.validate(write)

    assert not admission.handles(target())
    assert await admission.mutate(write) is write.object


def test_a_write_says_what_it_is_to() -> None:
    write = attributes("pods", "UPDATE", subresource="status")

    assert write.target == target("pods", "UPDATE", "status")

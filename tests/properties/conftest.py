"""What holds for every property: the machine may be slow.

An example that takes long is no failure: a test that time trips says nothing about the code.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "reflet", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("reflet")

"""What holds for every property: the machine may be slow, and chance decides nothing.

An example that takes long, or is drawn slowly, is no failure: a test that time trips says nothing
about the code.  The same examples are drawn in every run, so that a change fails or passes for
everybody; ``make fuzz`` draws others.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "reflet",
    deadline=None,
    derandomize="REFLET_FUZZ" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("reflet")

"""All scenes, in the order in which they are played.

Owns: the list.  Must not know what is in a scene.
"""

from __future__ import annotations

from typing import Final

from tests.real.differential.apply_scenes import apply_scenes
from tests.real.differential.change_scenes import change_scenes
from tests.real.differential.cluster_scenes import cluster_scenes
from tests.real.differential.create_scenes import create_scenes
from tests.real.differential.custom_scenes import custom_scenes
from tests.real.differential.delete_scenes import delete_scenes
from tests.real.differential.get_scenes import get_scenes
from tests.real.differential.impersonation_scenes import impersonation_scenes
from tests.real.differential.list_scenes import list_scenes
from tests.real.differential.node_scenes import node_scenes
from tests.real.differential.node_write_scenes import node_write_scenes
from tests.real.differential.script import Scene
from tests.real.differential.subresource_scenes import subresource_scenes
from tests.real.differential.table_scenes import table_scenes
from tests.real.differential.watch_scenes import watch_scenes

SCENES: Final[tuple[Scene, ...]] = (
    *get_scenes(),
    *list_scenes(),
    *watch_scenes(),
    *create_scenes(),
    *change_scenes(),
    *apply_scenes(),
    *delete_scenes(),
    *subresource_scenes(),
    *custom_scenes(),
    *table_scenes(),
    *cluster_scenes(),
    *impersonation_scenes(),
    *node_scenes(),
    *node_write_scenes(),
)

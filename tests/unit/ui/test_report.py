"""The page as one file: it holds everything, and nothing that somebody wrote gets power in it."""

from __future__ import annotations

import base64
import hashlib
import re

import msgspec

from reflet.ui.page_answers import read_assets
from reflet.ui.report import MODULES, joined_modules, report
from tests.page_scenes import NOW, OF_WEB, WHOLE, board, config_map, pod

HOSTILE = "</script><script>alert(1)</script><!--"


def made(data: dict[str, str]) -> str:
    page = board(config_map(data), pods=(pod(WHOLE, metadata=OF_WEB),))
    page.refresh(NOW)
    return report(page.document(NOW))


def embedded(text: str) -> str:
    [found] = re.findall(r'<script type="application/json" id="document">(.*?)</script>', text)
    return str(found)


def test_the_document_is_inside() -> None:
    document = msgspec.json.decode(embedded(made({"LEVEL": "info"})))

    assert document["sources"]["ConfigMap/shop/settings"]["keys"][0]["text"] == "info"


def test_it_asks_nobody_for_anything() -> None:
    text = made({"LEVEL": "info"})

    assert re.findall(r"""(?:src|href)=["'](?!data:,|#)""", text.partition("<script")[0]) == []
    assert "import {" not in text


def test_what_ends_a_script_is_only_text() -> None:
    text = made({HOSTILE: HOSTILE})

    assert HOSTILE not in text
    assert text.count("</script>") == 2
    assert HOSTILE in embedded(text).encode().decode("unicode_escape")


def test_its_policy_lets_its_own_parts_run_and_nothing_else() -> None:
    text = made({"LEVEL": "info"})
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    [script] = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)

    for name, part in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy


def test_every_module_is_joined_and_no_name_means_two_things() -> None:
    parts = {name: text.decode() for name, text in read_assets().items()}
    joined = joined_modules(parts)

    assert set(MODULES) == {name for name in parts if name.endswith(".js")}
    names = re.findall(r"^(?:async )?(?:function\*?|const|let|class) (\w+)", joined, re.MULTILINE)
    assert len(names) == len(set(names))
    assert re.search(r"^(import|export) ", joined, re.MULTILINE) is None

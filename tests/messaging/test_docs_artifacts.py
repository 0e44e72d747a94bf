"""docs/artifacts.md is a test: its programs name what there is, its numbers are those of the code."""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from exec_daemon.settings import DaemonLimits
from messaging import ArtifactRef
from messaging.artifact_stores import MOST_RESULT_BYTES
from messaging.artifact_stores.s3 import UPLOAD_EXPIRES_S
from messaging.guarded_fetch import MOST_REDIRECTS
from messaging.sinks import VARIABLES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "artifacts.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
MIB = 1024 * 1024


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_of_the_page_compiles_and_imports_what_there_is(program: str) -> None:
    tree = compile(program, "page", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imports
    for node in imports:
        assert [
            one.name for one in node.names if not hasattr(import_module(node.module or ""), one.name)
        ] == []


def test_the_reference_of_the_page_has_the_keys_of_one() -> None:  # M-80
    found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    shown = json.loads(found[1])
    assert shown.keys() == ArtifactRef.__dataclass_fields__.keys()
    assert shown["uri"] == f"/artifacts/{shown['sha256']}"


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    limits = DaemonLimits()
    assert (MOST_RESULT_BYTES, "over 256 KiB" in PAGE) == (256 * 1024, True)
    assert (limits.max_artifact_bytes, "at most 64 MiB" in PAGE) == (64 * MIB, True)
    assert (limits.artifacts_room_bytes, "2 GiB by default" in PAGE) == (2048 * MIB, True)
    assert (MOST_REDIRECTS, "at most five redirects" in PAGE) == (5, True)
    assert (UPLOAD_EXPIRES_S, "for an hour" in PAGE) == (3600, True)


def test_the_variables_of_the_page_are_read() -> None:
    named = set(re.findall(r"^\| `BOX_(\w+)` \|", PAGE, re.MULTILINE))
    assert named == {"ARTIFACTS", "UPLOADS"} <= VARIABLES.keys()

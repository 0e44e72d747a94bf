"""The documents: every relative link leads to a file and a heading that exist; examples are the real ones."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from exec_daemon.api.app import EVERY_ROW
from exec_daemon.ops import ALLOWLIST
from inband.cli import COMMANDS
from inband.settings_table import SETTINGS
from messaging import ERRORS
from scripts.requirements import areas

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^```.*?^```|(`+)[^`\n][^\n]*?\1", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors that a forge gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    found = []
    for target, anchor in LINK.findall(prose(page)):
        linked = (page.parent / target) if target else page
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            found.append(f"{target}#{anchor}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


NAMED = re.compile(
    r"`((?:tests|docs|scripts|bench|patterns|messaging|prompt_envelope|harvester|exec_daemon|inband_agent|inband)/[\w/.-]*)`"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = NAMED.findall(page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_words_of_the_glossary_are_in_order_and_each_stands_once() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\*", page, re.MULTILINE)
    assert words == sorted(set(words))


DOCUMENTED = {
    "settings.md": [row.name for row in SETTINGS],
    "ops.md": [op.name for op in ALLOWLIST],
    "errors.md": [str(code) for code in ERRORS],
    "commands.md": [f"box {name}" for name in COMMANDS],
    "api.md": [f"{row.method} {row.path}" for row in EVERY_ROW],
}


@pytest.mark.parametrize("page", DOCUMENTED)
def test_every_setting_op_error_code_command_and_endpoint_is_documented(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert [
        name for name in DOCUMENTED[page] if not re.search(rf"[`# ]{re.escape(name)}[`\]\n ]", text)
    ] == []


def sources() -> list[Path]:
    packages = (
        "patterns",
        "messaging",
        "prompt_envelope",
        "harvester",
        "exec_daemon",
        "inband_agent",
        "inband",
        "scripts",
        "tests",
    )
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def test_every_section_of_the_grammar_that_a_comment_cites_exists() -> None:
    page = (ROOT / "docs" / "grammar-rules.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\d)\. (.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for path in sources():
        for section, point in re.findall(r"GRAMMAR (\d)(?:\.(\d))?", path.read_text(encoding="utf-8")):
            text = sections[section]
            assert not point or re.search(rf"(?:^|; ){point}\. ", text, re.MULTILINE), (path, section, point)


def test_every_table_of_the_requirements_that_a_comment_cites_exists() -> None:
    known = {name for area in areas() for name in area.tables}
    for path in sources():
        assert set(re.findall(r"\bO 7\.\d", path.read_text(encoding="utf-8"))) <= known, path


def test_the_reply_in_the_readme_is_the_one_that_the_demo_harvests() -> None:
    reply = (ROOT / "inband" / "demo_reply.md").read_text(encoding="utf-8").strip()
    assert f"```markdown\n{reply}\n```" in (ROOT / "README.md").read_text(encoding="utf-8")


# Written in two halves, so that this list is not what it looks for.
REGISTRIES = re.compile(
    "|".join(re.escape(a + b) for a, b in (("pypi", ".org"), ("npmjs", ".org"), ("deb.", "debian.org")))
)


def test_no_file_names_the_host_of_a_registry() -> None:
    # Packages are named, never where they come from: a mirror must do as well.
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    files = [ROOT / name for name in listed.decode().split("\0") if name]
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file()}
    assert [str(path) for path, text in texts.items() if REGISTRIES.search(text)] == []

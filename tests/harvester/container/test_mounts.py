"""What a container sees of the host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harvester.container.groups import Source
from harvester.container.layout import Layout
from harvester.container.mounts import BLOCKED, Allowlist, Mount, MountRefused, Root, further, standard
from messaging.container import WireError

MAIN, OTHER = Source("main", is_main=True), Source("family", is_main=False)


def test_the_places_of_a_lane_and_the_project_for_main_alone(tmp_path: Path) -> None:
    # T-12, T-80, T-81
    layout, project = Layout(tmp_path / "data"), tmp_path / "project"
    project.mkdir()
    (project / ".env").write_text("KEY=1")
    mounts = standard(layout, "family.x", OTHER, project)
    assert {(str(one.source.relative_to(tmp_path)), one.target, one.writable) for one in mounts} == {
        ("data/groups/family", "/workspace/group", True),
        ("data/groups/global", "/workspace/global", False),
        ("data/ipc/family.x", "/workspace/ipc", True),
        ("data/sessions/family.x", "/home/agent/.talon", True),
    }
    assert standard(layout, "main", MAIN, project)[4:] == [
        Mount(project, "/workspace/project"),
        Mount(Path("/dev/null"), "/workspace/project/.env"),
    ]


@pytest.fixture
def allowed(tmp_path: Path) -> Allowlist:
    for name in ("code/app", "docs", "code/.ssh", "code/my-credentials", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "code" / "link").symlink_to(tmp_path / "outside")
    roots = (Root(path=str(tmp_path / "code"), writable=True), Root(path=str(tmp_path / "docs")))
    return Allowlist(roots=roots, blocked=("secret-plans",))


def mount(tmp_path: Path, allowed: Allowlist, folder: str, source: Source = MAIN, **wanted: Any) -> Mount:
    return further({"hostPath": str(tmp_path / folder)} | wanted, source, allowed)


def test_a_folder_of_a_root_is_read_only_unless_all_agree(tmp_path: Path, allowed: Allowlist) -> None:
    # T-82
    assert mount(tmp_path, allowed, "code/app") == Mount(tmp_path / "code/app", "/workspace/extra/app")
    assert mount(tmp_path, allowed, "code/app", readonly=False, containerPath="x/y").writable
    assert not mount(tmp_path, allowed, "code/app", OTHER, readonly=False).writable
    assert not mount(tmp_path, allowed, "docs", readonly=False).writable
    free = Allowlist(roots=allowed.roots, others_read_only=False)
    assert mount(tmp_path, free, "code/app", OTHER, readonly=False).writable


@pytest.mark.parametrize(
    ("folder", "wanted"),
    [
        ("outside", {}),
        ("code/link", {}),  # leads out
        ("code/../outside", {}),
        ("code/missing", {}),
        ("code/.ssh", {}),  # T-83
        ("code/my-credentials", {}),
        ("code/app", {"containerPath": ""}),
        ("code/app", {"containerPath": "/etc"}),
        ("code/app", {"containerPath": "a/../../b"}),
        ("code/app", {"containerPath": "a:b"}),
        ("code/app", {"containerPath": 5}),
        ("code/app", {"hostPath": None}),
    ],
)
def test_everything_else_is_refused(
    tmp_path: Path, allowed: Allowlist, folder: str, wanted: dict[str, Any]
) -> None:
    # T-82, T-83
    with pytest.raises(MountRefused):
        mount(tmp_path, allowed, folder, **wanted)


def test_without_a_list_nothing_is_mounted_and_a_list_only_adds_to_what_is_blocked(tmp_path: Path) -> None:
    # T-82, T-83
    (tmp_path / "id_rsa.d").mkdir()
    with pytest.raises(MountRefused, match="allowedRoots"):
        mount(tmp_path, Allowlist.at(tmp_path / "missing.json"), ".")
    file = tmp_path / "list.json"
    rows = {"allowedRoots": [{"path": str(tmp_path), "allowReadWrite": True}], "blockedPatterns": ["plans"]}
    file.write_text(json.dumps(rows))
    (tmp_path / "Plans-B").mkdir()
    for name in ("id_rsa.d", "Plans-B"):
        with pytest.raises(MountRefused, match="never mounted"):
            mount(tmp_path, Allowlist.at(file), name)
    assert len(BLOCKED) == 17


@pytest.mark.parametrize(
    "content", ["[]", "{nope", '{"allowedRoots": [{"path": 3}]}', '{"allowedRoots": {}}']
)
def test_a_list_that_is_not_right_names_its_file(tmp_path: Path, content: str) -> None:
    # T-82
    file = tmp_path / "list.json"
    file.write_text(content)
    with pytest.raises(WireError, match=r"list\.json"):
        Allowlist.at(file)

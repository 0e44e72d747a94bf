"""`box container` as a process, and the programs that it makes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvester.container.groups import Group, Source
from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from inband.container_programs import Containers, Maker, endpoint
from inband.errors import InputError
from tests.inband.conftest import Box

MAIN, FAMILY = Source("main", is_main=True), Source("family", is_main=False)


def test_groups_are_registered_and_listed_and_their_directories_made(running: Box) -> None:
    # T-12, T-54
    data = running.home.parent / "shared"
    made = running.json("container", "add", "Family", "--jid", "tg:123", "--data", str(data))
    assert (made["folder"], made["agent"], made["is_main"]) == ("Family", "family", False)
    found = running.json("container", "list")["groups"]
    assert [(one["jid"], one["agent"]) for one in found] == [("tg:123", "family")]
    assert {path.name for path in (data / "ipc" / "Family").iterdir()} == {"input", "messages", "tasks"}
    assert "family" in {one["name"] for one in running.json("agent", "list")["agents"]}
    wrong = running.run("container", "add", "a/b", "--jid", "x")
    assert (wrong.returncode, "no folder of a group" in wrong.stderr) == (2, True)


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[Maker]:
    layout = Layout(tmp_path / "data")
    for folder in ("main", "family"):
        layout.prepare(folder, folder)
    with Ledger(tmp_path / "container.db", "OFF") as ledger:
        yield Maker(layout, ledger, Containers(argv=("agent", "--x")))


def test_in_the_open_a_program_gets_its_places_and_none_of_our_credentials(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # T-18, T-86
    monkeypatch.setenv("BOX_TOKEN", "t0p-s3cret")
    program = maker.program("family.aside", FAMILY, 7)
    assert (tuple(program.argv), tuple(program.keep)) == (("agent", "--x"), (7,))
    assert program.environment["INBAND_AGENT_IPC"].endswith("data/ipc/family.aside")
    assert "BOX_TOKEN" not in program.environment


def test_a_boxed_program_sees_the_project_if_it_is_main_and_what_the_list_permits(
    maker: Maker, tmp_path: Path
) -> None:
    # T-81, T-82
    warned: list[str] = []
    project, code = tmp_path / "project", tmp_path / "code"
    for path in (project, code, tmp_path / "elsewhere"):
        path.mkdir()
    (tmp_path / "list.json").write_text(json.dumps({"allowedRoots": [{"path": str(code)}]}))
    mounts = [{"hostPath": str(code), "readonly": False}, {"hostPath": str(tmp_path / "elsewhere")}, 5]
    for jid, folder in (("tg:1", "main"), ("tg:2", "family")):
        config = {"additionalMounts": mounts if folder == "main" else "no list"}
        maker.ledger.put_group(
            Group(jid=jid, folder=folder, name=folder, is_main=folder == "main", container_config=config)
        )
    how = Containers(
        argv=("agent",),
        boxed=True,
        project=project,
        allowlist=tmp_path / "list.json",
        say=warned.append,
    )
    boxed = Maker(maker.layout, maker.ledger, how)
    main, family = (list(boxed.program(one.folder, one, 7).argv) for one in (MAIN, FAMILY))
    assert main[main.index("/workspace/extra/code") - 2] == "--ro-bind"
    assert "/workspace/project" in main
    assert "--share-net" not in main
    assert not [word for word in family if word.startswith(("/workspace/extra", "/workspace/project"))]
    assert len(warned) == 2
    assert "elsewhere" in warned[0]


def test_a_models_endpoint_that_is_none_names_its_file(tmp_path: Path) -> None:
    # T-17
    file = tmp_path / "model.json"
    for content in ("{nope", '{"baseUrl": "http://x/v1"}'):
        file.write_text(content)
        with pytest.raises(InputError, match=r"model\.json: says no model"):
            endpoint(file)
    with pytest.raises(InputError, match="cannot be read"):
        endpoint(tmp_path / "missing.json")
    whole = {"baseUrl": "http://x/v1", "token": "t", "model": "m", "maxContextTokens": 10}
    file.write_text(json.dumps(whole))
    assert endpoint(file).model == "m"

"""Configured checkouts: what is shown of them, and that asking writes nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from exec_daemon.box import BoxContext, BoxError, read
from messaging import ErrorCode

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def context(repository) -> BoxContext:
    return BoxContext(repos={"gateway": repository.root})


def test_repos_tells_branch_head_and_how_much_differs(repository, context: BoxContext) -> None:
    (repository.root / "a.txt").write_text("two\n")
    (repository.root / "new.txt").write_text("x")
    (row,) = read("repos", None, context)["data"]["repos"]
    assert row["key"] == "gateway"
    assert row["branch"] == "main"
    assert row["head"] == repository.git("rev-parse", "HEAD").strip()
    assert row["dirty"] == 2
    assert (row["ahead"], row["behind"]) == (None, None)


def test_ahead_and_behind_are_counted_against_the_upstream(repository, context: BoxContext) -> None:
    repository.git("branch", "upstream")
    repository.git("branch", "--set-upstream-to=upstream")
    repository.commit("a.txt", "two\n", "Second")
    (row,) = read("repos", None, context)["data"]["repos"]
    assert (row["ahead"], row["behind"], row["upstream"]) == (1, 0, "upstream")


def test_repo_tells_changes_commits_diffstat_and_stashes(repository, context: BoxContext) -> None:
    repository.commit("b.txt", "1\n", "Second")
    (repository.root / "b.txt").write_text("stashed\n")
    repository.git("stash", "push", "--quiet", "--message", "later")
    repository.git("mv", "b.txt", "c.txt")
    (repository.root / "a.txt").write_text("one\ntwo\n")
    (repository.root / "name with space\n.txt").write_text("")
    data = read("repo", "gateway", context)["data"]
    assert {(change["state"], change["path"]) for change in data["changes"]} == {
        (".M", "a.txt"),
        ("R.", "c.txt"),
        ("??", "name with space\n.txt"),
    }
    assert [commit["subject"] for commit in data["commits"]] == ["Second", "First"]
    assert data["commits"][0]["author"] == "Ada"
    assert data["diffstat"] == {"files": 3, "added": 2, "removed": 1}
    assert ["later" in stash["subject"] for stash in data["stashes"]] == [True]


def test_a_repository_without_commits_is_shown(tmp_path: Path, repository) -> None:
    empty = type(repository)(tmp_path / "empty")
    data = read("repo", "empty", BoxContext(repos={"empty": empty.root}))["data"]
    assert (data["branch"], data["commits"], data["diffstat"]) == ("main", [], None)


def test_many_changes_are_counted_and_the_first_hundred_shown(repository, context: BoxContext) -> None:
    for number in range(120):
        (repository.root / f"{number}.txt").write_text("")
    document = read("repo", "gateway", context)
    assert document["data"]["dirty"] == 120
    assert len(document["data"]["changes"]) == 100
    assert document["truncated"]


def test_more_changes_than_are_read_are_not_all_counted(repository, context: BoxContext) -> None:
    for number in range(2000):
        (repository.root / f"{number:0200}").touch()
    (row,) = read("repos", None, context)["data"]["repos"]
    assert 1000 < row["dirty"] < 2000
    assert row["counted_all"] is False


def test_a_key_that_is_not_configured_is_not_found_and_a_path_is_no_key(context: BoxContext) -> None:
    with pytest.raises(BoxError) as missing:
        read("repo", "other", context)
    assert missing.value.error.code is ErrorCode.NOT_FOUND
    with pytest.raises(BoxError) as path:
        read("repo", "/etc", context)
    assert path.value.error.code is ErrorCode.INVALID_ARGS  # O-43


def test_a_folder_that_is_no_checkout_is_unavailable_even_inside_one(
    repository, tmp_path: Path
) -> None:  # O-45
    inner = repository.root / "folder"
    inner.mkdir()
    for root in (inner, tmp_path / "nowhere"):
        context = BoxContext(repos={"x": root})
        assert read("repo", "x", context)["data"] == {"available": False, "key": "x"}
        assert read("repos", None, context)["data"]["repos"] == [{"key": "x", "available": False}]


def test_a_work_tree_elsewhere_is_not_shown(repository, tmp_path: Path, context: BoxContext) -> None:
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "private.txt").write_text("")
    repository.git("config", "core.worktree", str(secret))
    assert "private.txt" not in str(read("repo", "gateway", context))


def test_asking_changes_no_byte_and_no_time_of_the_repository(
    repository, context: BoxContext
) -> None:  # O-44
    (repository.root / "a.txt").touch()  # a stale index, which a plain `git status` would write anew
    before = fingerprint(repository.root)
    read("repos", None, context)
    read("repo", "gateway", context)
    assert fingerprint(repository.root) == before


def test_more_filters_than_any_real_repository_has_are_a_trick(repository, context: BoxContext) -> None:
    with (repository.root / ".git" / "config").open("a") as file:
        file.writelines(f'[filter "f{number}"]\n\tclean = x\n' for number in range(33))
    assert read("repo", "gateway", context)["data"]["available"] is False


def test_a_broken_configuration_is_unavailable(repository, context: BoxContext) -> None:  # O-45
    (repository.root / ".git" / "config").write_text("[broken")
    assert read("repo", "gateway", context)["data"]["available"] is False


def test_no_time_left_is_unavailable(repository) -> None:  # O-45
    hurried = BoxContext(repos={"gateway": repository.root}, limit_s=0.0)
    assert read("repos", None, hurried)["data"]["repos"] == [{"key": "gateway", "available": False}]


def test_filters_that_are_not_run_are_named(repository, context: BoxContext) -> None:
    repository.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    assert any("lfs" in note for note in read("repo", "gateway", context)["notes"])


def fingerprint(root: Path) -> dict[str, tuple[int, str]]:
    """Modification time and content of every file and folder under `root`."""
    return {
        str(path.relative_to(root)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in root.rglob("*")
    }

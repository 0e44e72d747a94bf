"""Configured checkouts: what is shown, and that asking neither writes nor runs anything."""

from __future__ import annotations

import hashlib
import os
import subprocess
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


# ---- hostile repositories -------------------------------------------------------------------------


class Trap:
    """A repository whose configuration names a program wherever git can be told one."""

    def __init__(self, repository, marker: Path) -> None:
        self.repository, self.marker = repository, marker
        self.program = repository.root.parent / "trap.sh"
        self.program.write_text(f'#!/bin/sh\necho "$0 $@" >> {marker}\ncat\n')
        self.program.chmod(0o755)

    def config(self, key: str, value: str | None = None) -> None:
        """Names the program under `key`."""
        self.repository.git("config", "--local", key, value or str(self.program))

    def sprung(self) -> str:
        """What was run; empty when nothing was."""
        return self.marker.read_text() if self.marker.exists() else ""


@pytest.fixture
def trap(repository, tmp_path: Path) -> Trap:
    return Trap(repository, tmp_path / "sprung")


PROGRAM_SETTINGS = (
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "diff.external",
    "diff.trap.command",
    "diff.trap.textconv",
    "filter.trap.clean",
    "filter.trap.smudge",
    "filter.two.process",
    "filter.with=equals.and.dots.clean",
    "gpg.program",
    "gpg.ssh.program",
    "interactive.diffFilter",
    "merge.trap.driver",
    "pager.status",
    "pager.log",
    "pager.diff",
    "credential.helper",
    "sequence.editor",
    "uploadpack.packObjectsHook",
)


def spring(trap: Trap) -> None:
    """Everything at once, and files that differ so that git has a reason to run each."""
    repository, root = trap.repository, trap.repository.root
    repository.commit("b.txt", "b\n", "Second")
    (root / ".gitattributes").write_text(
        "a.txt filter=trap diff=trap\nb.txt filter=two\n*.x filter=with=equals.and.dots\n"
    )
    repository.commit("c.x", "c\n", "Third")
    for key in PROGRAM_SETTINGS:
        trap.config(key)
    for command in ("status", "log", "diff", "config"):
        trap.config(f"alias.{command}", f"!{trap.program}")
    trap.config("filter.trap.required", "true")
    trap.config("log.showSignature", "true")
    hooks = root / ".git" / "hooks"
    for hook in ("post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman"):
        (hooks / hook).symlink_to(trap.program)
    for name in ("a.txt", "b.txt", "c.x"):
        (root / name).write_text("X\n")  # the same size: git has to compare contents


def test_a_hostile_configuration_runs_nothing(trap: Trap) -> None:  # O 7.1's warning
    spring(trap)
    context = BoxContext(repos={"gateway": trap.repository.root})
    data = read("repo", "gateway", context)["data"]
    assert data["dirty"] == 4
    assert read("repos", None, context)["data"]["repos"][0]["dirty"] == 4
    assert trap.sprung() == ""


def test_the_traps_are_real(trap: Trap) -> None:
    """Without our care the same commands run the programs: otherwise the test above shows nothing."""
    spring(trap)
    root = trap.repository.root
    plain = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    for words in (("status", "--short"), ("diff",), ("log", "-p", "--ext-diff")):
        subprocess.run(["git", "-C", str(root), *words], env=plain, check=False, capture_output=True)
    assert trap.sprung().count("\n") >= 3


def test_a_filter_that_a_huge_configuration_pushes_out_of_sight_is_not_run(trap: Trap) -> None:
    spring(trap)
    with (trap.repository.root / ".git" / "config").open("r+") as file:
        rest = file.read()
        file.seek(0)
        file.writelines(f"[padding]\n\tkey{number} = x\n" for number in range(40_000))
        file.write(rest)
    context = BoxContext(repos={"gateway": trap.repository.root})
    assert read("repo", "gateway", context)["data"]["available"] is False
    assert trap.sprung() == ""


def test_a_hostile_submodule_runs_nothing(trap: Trap, tmp_path: Path) -> None:
    inner = type(trap.repository)(tmp_path / "inner")
    (inner.root / ".gitattributes").write_text("* filter=trap\n")
    inner.git("add", ".gitattributes")
    inner.commit("f.txt", "1\n", "Inner")
    repository = trap.repository
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.root), "sub")
    repository.git("commit", "--quiet", "--message", "With a submodule")
    module = repository.root / ".git" / "modules" / "sub"
    for key in ("core.fsmonitor", "filter.trap.clean"):
        subprocess.run(["git", "--git-dir", str(module), "config", key, str(trap.program)], check=True)
    (repository.root / "sub" / "f.txt").write_text("2\n")
    assert read("repo", "gateway", BoxContext(repos={"gateway": repository.root}))["data"]["available"]
    assert trap.sprung() == ""


def test_a_signature_is_not_verified_by_the_program_that_the_repository_names(trap: Trap) -> None:
    repository = trap.repository
    head, _, subject = repository.git("cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    (repository.root.parent / "signed").write_text(f"{head}\n{signature}\n\n{subject}")
    signed = repository.git("hash-object", "-t", "commit", "-w", str(repository.root.parent / "signed"))
    repository.git("reset", "--quiet", "--hard", signed.strip())
    trap.config("log.showSignature", "true")
    trap.config("gpg.program")
    context = BoxContext(repos={"gateway": repository.root})
    assert len(read("repo", "gateway", context)["data"]["commits"]) == 1
    assert trap.sprung() == ""
    repository.git("log")
    assert trap.sprung() != ""  # the trap is real


def test_missing_objects_are_not_fetched(trap: Trap) -> None:
    repository = trap.repository
    repository.commit("big.txt", "1\n", "Big")
    blob = repository.git("rev-parse", "HEAD:big.txt").strip()
    (repository.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repository.root / "big.txt").write_text("2\n")
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.partialClone", "origin")
    for key, value in {
        "promisor": "true",
        "url": f"ext::{trap.program}",
        "partialclonefilter": "blob:none",
    }.items():
        repository.git("config", f"remote.origin.{key}", value)
    trap.config("protocol.ext.allow", "always")
    data = read("repo", "gateway", BoxContext(repos={"gateway": repository.root}))["data"]
    assert data["diffstat"] is None
    assert data["dirty"] == 1
    assert trap.sprung() == ""


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

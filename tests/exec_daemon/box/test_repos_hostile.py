"""Checkouts that name programs wherever git can be told one: asking about them runs none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from exec_daemon.box import BoxContext, read

pytestmark = pytest.mark.needs("git")


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


def test_a_hostile_home_folder_runs_nothing(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # D011
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {trap.program}\n\tpager = {trap.program}\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_PAGER", str(trap.program))
    monkeypatch.chdir(home)
    context = BoxContext(repos={"gateway": trap.repository.root})
    for action, arg in (("repos", None), ("repo", "gateway")):
        assert read(action, arg, context)["data"]["available"]
    assert trap.sprung() == ""
    plain = {"PATH": os.environ["PATH"], "HOME": str(home)}
    subprocess.run(
        ["git", "-C", str(trap.repository.root), "status"], env=plain, check=False, capture_output=True
    )
    assert trap.sprung() != ""  # the trap is real

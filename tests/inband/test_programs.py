"""`[ops]` and `[sandbox]` by the command: what is wrong is named with its place, and what is missing too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inband.errors import SettingsError
from inband.settings import load
from tests.inband.conftest import Box

OP = '[ops."deploy.status"]\nargv = ["true"]\nsummary = "How it stands."\n'


def refused(tmp_path: Path, text: str) -> str:
    file = tmp_path / "box.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load({"BOX_CONFIG": str(file), "XDG_STATE_HOME": "/state"})
    return str(caught.value).removeprefix(f"{file}:")


def test_what_is_wrong_with_an_op_is_named_by_file_line_and_key(tmp_path: Path) -> None:  # D007
    assert refused(tmp_path, OP + "time_limit_s = 0\n") == (
        "4: `ops`: `deploy.status`, `time_limit_s`: must be a number of seconds above 0 and up to 3600, not 0"
    )
    argument = '[ops."deploy.status".arguments]\nenv = { choice = ["a"] }\n'
    assert "`deploy.status.arguments.env`, `choice`: is an unknown key. Did you mean choices?" in refused(
        tmp_path, OP + argument
    )


def test_an_op_that_stands_twice_is_refused(tmp_path: Path) -> None:  # D055
    assert "not TOML" in refused(tmp_path, OP + OP)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('require = ["landlok"]', "'landlok' is no layer; there are landlock, seccomp, cgroup"),
        ('readable = ["srv"]', "'srv' is no absolute path"),
        ('writable = ["/srv/../etc"]', "'/srv/../etc' is no absolute path"),
        ('network = "yes"', "must be none, local, all"),
        ("places = 0", "a whole number from 1 to 256"),
    ],
)
def test_what_is_wrong_with_the_sandbox_is_named(line: str, said: str, tmp_path: Path) -> None:
    wrong = refused(tmp_path, f"[sandbox]\n{line}\n")
    assert wrong.startswith(f"2: `sandbox.{line.partition(' ')[0]}`")
    assert said in wrong


@pytest.fixture
def faulty(tmp_path: Path) -> Box:
    (tmp_path / "box.toml").write_text(
        '[ops."deploy.status"]\nargv = ["no-such-deployctl"]\nsummary = "x"\nfolder = "/no/such/folder"\n'
        'user = "nobody-at-all"\nwritable = ["/no/such/place"]\n'
        '[gates.mail]\nargv = ["no-such-gate"]\n'
    )
    return Box(tmp_path / "home", {"BOX_CONFIG": str(tmp_path / "box.toml")})


def test_config_check_names_programs_folders_and_users_that_are_not_there(faulty: Box) -> None:
    done = faulty.run("config", "check")
    assert done.returncode == 1
    assert "some ops and gates are not" in done.stdout
    assert "box.toml: `gates`: `mail`, `argv`: no-such-gate is missing on the PATH" in done.stderr
    for said in (
        "`argv`: no-such-deployctl is missing on the PATH that programs get: write an absolute path",
        "`folder`: /no/such/folder is no folder",
        "`writable`: /no/such/place is missing: make it, or take it out",
        "`user`: there is no user 'nobody-at-all'",
    ):
        assert f"box.toml: `ops`: `deploy.status`, {said}" in done.stderr


def test_the_doctor_says_what_is_around_programs_and_which_ops_cannot_run(faulty: Box) -> None:  # D044
    findings = json.loads(faulty.run("doctor", "--json").stdout)["findings"]
    about = [(one["subject"], one["grade"]) for one in findings if one["subject"] in ("ops", "programs")]
    assert about.count(("ops", "warn")) == 4
    assert [one["grade"] for one in findings if one["subject"] == "gates"] == ["warn"]
    assert ("programs", "ok") in about
    (around,) = [one["found"] for one in findings if (one["subject"], one["grade"]) == ("programs", "ok")]
    assert around.startswith("trees end by ")


def test_a_layer_that_is_demanded_and_not_there_fails_at_the_doctor(tmp_path: Path) -> None:  # D044
    (tmp_path / "box.toml").write_text('[sandbox]\nuser = "nobody-at-all"\n')
    box = Box(tmp_path / "home", {"BOX_CONFIG": str(tmp_path / "box.toml")})
    findings = json.loads(box.run("doctor", "--json").stdout)["findings"]
    (fault,) = [one for one in findings if one["subject"] == "programs"]
    assert (fault["grade"], fault["found"]) == (
        "fail",
        "there is no user 'nobody-at-all': see `sandbox.user`",
    )

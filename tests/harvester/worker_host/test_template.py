"""Where a worker works, and what it inherits."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvester.worker_host.template import HostTemplate, OutsideFolderError


@pytest.fixture
def template(tmp_path: Path) -> HostTemplate:
    (tmp_path / "work" / "a").mkdir(parents=True)
    (tmp_path / "out").symlink_to("/")
    (tmp_path / "work" / "out").symlink_to(tmp_path)
    return HostTemplate(name="coder", argv=("true",), environment=("EXTRA",), folder=tmp_path / "work")


def test_a_folder_beneath_the_template_s_is_taken(template: HostTemplate, tmp_path: Path) -> None:
    assert template.place("a") == (tmp_path / "work" / "a").resolve()
    assert template.place(None) == (tmp_path / "work").resolve()


@pytest.mark.parametrize("wanted", ["..", "/etc", "out", "out/work", "missing", "a/../.."])
def test_what_leads_out_of_it_is_refused(template: HostTemplate, wanted: str) -> None:
    if wanted == "out/work":  # a link may lead back in: what counts is where it ends
        assert template.place(wanted).name == "work"
        return
    with pytest.raises(OutsideFolderError):
        template.place(wanted)


def test_only_named_variables_are_passed_on(template: HostTemplate) -> None:
    around = {"PATH": "/bin", "EXTRA": "1", "BOX_TOKEN": "secret", "OTHER": "2"}
    got = template.variables("w-1", Path("/state"), around)
    assert got == {
        "PATH": "/bin",
        "EXTRA": "1",
        "INBAND_WORKER": "w-1",
        "INBAND_HOME": "/state",
        "INBAND_RUNTIME": "child",
    }

"""The files beside the examples: read and held against the checkout, since no container engine runs here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from inband.settings_table import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "examples" / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CONTAINERFILES = ("Containerfile", "examples/page_extract/Containerfile")


def test_the_services_are_a_broker_and_a_bucket() -> None:  # M-86
    images = {name: service["image"] for name, service in SERVICES.items()}
    assert "/nats:" in images["nats"]
    assert "/minio:" in images["minio"]
    assert "jetstream" in COMPOSE["configs"]["nats"]["content"]


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_has_a_version_and_is_reachable_from_this_machine_only(name: str) -> None:  # M-86
    assert not SERVICES[name]["image"].endswith(("latest", "/nats", "/minio", "/mc"))
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", ()))


def test_what_a_service_names_is_in_the_file() -> None:  # M-86
    for service in SERVICES.values():
        volumes = [volume.partition(":")[0] for volume in service.get("volumes", ())]
        assert set(volumes) <= set(COMPOSE["volumes"])
        assert {config["source"] for config in service.get("configs", ())} <= set(COMPOSE["configs"])
        assert set(service.get("depends_on", {})) <= set(SERVICES)


@pytest.mark.parametrize("name", CONTAINERFILES)
def test_a_container_takes_files_that_exist_and_does_not_run_as_root(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for words in re.findall(r"^COPY (?!--)(.+)$", text, re.MULTILINE):
        assert [word for word in words.split()[:-1] if not (ROOT / word).exists()] == []
    assert re.search(r"^USER [1-9]", text, re.MULTILINE)


def test_the_image_that_others_stand_on_holds_every_package() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert set(packages) <= set(re.findall(r"^COPY (\w+) \1$", text, re.MULTILINE))


def test_the_settings_of_the_daemons_container_exist() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(BOX_[A-Z_]+)=", text))
    assert named <= {setting.variable for setting in SETTINGS}

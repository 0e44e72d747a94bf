"""Settings: the last source wins, and nothing that is wrong passes as a default."""

import re
from pathlib import Path

import pytest

from inband.errors import SettingsError
from inband.settings import config_file, load, unknown_variables
from inband.settings_table import BY_NAME, SETTINGS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "box.toml"


def environment(file: Path, **variables: str) -> dict[str, str]:
    return {"BOX_CONFIG": str(file), "XDG_STATE_HOME": "/state", **variables}


def test_the_last_source_wins(file: Path) -> None:
    file.write_text("[daemon]\nport = 1\n")
    assert (
        load({"XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": str(file.parent / "none")})["daemon.port"]
        == 8443
    )
    assert load(environment(file))["daemon.port"] == 1
    assert load(environment(file, BOX_DAEMON_PORT="2"))["daemon.port"] == 2
    assert load(environment(file, BOX_DAEMON_PORT="2"), {"daemon.port": 3})["daemon.port"] == 3
    assert load(environment(file, BOX_DAEMON_PORT="2"), {"daemon.port": None})["daemon.port"] == 2


def test_each_value_knows_where_it_comes_from(file: Path) -> None:
    file.write_text('home = "/h"\n')
    values = load(environment(file, BOX_URL="https://localhost"), {"daemon.port": 0}).values
    origins = {name: values[name].origin for name in ("home", "client.url", "daemon.port", "daemon.host")}
    assert origins == {
        "home": str(file),
        "client.url": "$BOX_URL",
        "daemon.port": "flag",
        "daemon.host": "default",
    }


def test_the_state_directory_follows_xdg() -> None:
    assert load({"XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/none"}).home == Path("/state/inband")
    assert load({"XDG_CONFIG_HOME": "/none"}).home == Path.home() / ".local/state/inband"


def test_an_empty_name_of_the_state_directory_is_none() -> None:
    assert load({"BOX_HOME": "", "XDG_STATE_HOME": "/state", "XDG_CONFIG_HOME": "/none"}).home == Path(
        "/state/inband"
    )


def test_a_relative_xdg_directory_is_void() -> None:
    assert config_file({"XDG_CONFIG_HOME": "x"}) == Path.home() / ".config/inband/box.toml"
    assert (
        load({"XDG_STATE_HOME": "x", "XDG_CONFIG_HOME": "/none"}).home == Path.home() / ".local/state/inband"
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[daemon]\nprot = 1\n", 2, "unknown setting `daemon.prot`; did you mean `daemon.port`?"),
        ("\n[deamon]\nport = 1\n", 2, "unknown section `deamon`; did you mean `daemon`?"),
        (
            "[daemon]\nhost = 'x'\nport = '8443'\n",
            3,
            "`daemon.port` must be a whole number from 0 to 65535, not '8443'",
        ),
        ("[daemon]\nport = true\n", 2, "`daemon.port` must be a whole number from 0 to 65535, not True"),
        ("[harvest]\nhosts = [1]\n", 2, "`harvest.hosts` must be a list of strings"),
        ("[repos]\nx = 1\n", 1, "`repos` must be a table of strings"),
        ("hoem = 'x'\n", 1, "unknown setting `hoem`; did you mean `home`?"),
        ("[zzz]\n", 1, "unknown section `zzz`; known ones: `box config show`"),
    ],
)
def test_a_mistake_is_named_with_file_line_key_and_the_nearest_known_one(
    file: Path, text: str, line: int, words: str
) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError) as wrong:
        load(environment(file))
    assert str(wrong.value).startswith(f"{file}:{line}: ")
    assert words in str(wrong.value)


def test_a_file_that_is_not_toml_says_where(file: Path) -> None:
    file.write_text("[daemon\n")
    with pytest.raises(SettingsError, match=r"not TOML.*line 1"):
        load(environment(file))


def test_a_named_file_that_is_missing_is_an_error(file: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        load(environment(file))


def test_a_file_that_is_not_text_is_an_error(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="cannot be read"):
        load(environment(file))


def test_a_whole_number_will_do_where_a_number_is_wanted(file: Path) -> None:
    file.write_text("[client]\ntimeout_s = 5\n[repos]\nours = '/srv/ours'\n")
    settings = load(environment(file))
    assert settings["client.timeout_s"] == 5.0
    assert settings["repos"] == {"ours": "/srv/ours"}


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("BOX_DAEMON_ALLOW_REMOTE", "yes", "daemon.allow_remote", True),
        ("BOX_HARVEST_HOSTS", "a, b", "harvest.hosts", ["a", "b"]),
        ("BOX_DAEMON_NAMES", "box.example, 2001:db8::1", "daemon.names", ["box.example", "2001:db8::1"]),
        ("BOX_DAEMON_ORIGINS", "https://a.example:8443", "daemon.origins", ["https://a.example:8443"]),
        ("BOX_CLIENT_TIMEOUT_S", "1.5", "client.timeout_s", 1.5),
    ],
)
def test_variables_are_read_as_the_type_of_their_setting(
    file: Path, variable: str, text: str, name: str, value: object
) -> None:
    file.write_text("")
    assert load(environment(file, **{variable: text}))[name] == value


@pytest.mark.parametrize(
    ("variable", "text"), [("BOX_DAEMON_PORT", "x"), ("BOX_DAEMON_ALLOW_REMOTE", "maybe")]
)
def test_a_variable_of_the_wrong_type_is_named(file: Path, variable: str, text: str) -> None:
    file.write_text("")
    with pytest.raises(SettingsError, match=rf"\${variable}: '{text}' is not"):
        load(environment(file, **{variable: text}))


def test_a_stranger_among_the_variables_is_named() -> None:
    assert unknown_variables({"BOX_PROT": "1", "BOX_URL": "x", "PATH": "y"}) == ["BOX_PROT"]


def test_every_setting_has_a_purpose_and_its_default_fits_its_type() -> None:
    assert len(BY_NAME) == len(SETTINGS)
    for row in SETTINGS:
        assert row.purpose
        assert isinstance(row.default, row.kind)


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("BOX_DAEMON_PORT", "99999", "a whole number from 0 to 65535"),
        ("BOX_DAEMON_PORT", "-1", "a whole number from 0 to 65535"),
        ("BOX_CLIENT_TIMEOUT_S", "nan", "a number from 0.1 to 86400"),
        ("BOX_CLIENT_TIMEOUT_S", "-1", "a number from 0.1 to 86400"),
        ("BOX_CLIENT_TIMEOUT_S", "inf", "a number from 0.1 to 86400"),
        ("BOX_HARVEST_MAX_CALLS", "0", "from 1 to 1000"),
        ("BOX_RATES_READS_PER_MINUTE", "-1", "from 0 to"),
    ],
)
def test_a_number_out_of_its_bounds_is_refused(file: Path, variable: str, text: str, words: str) -> None:
    file.touch()
    with pytest.raises(SettingsError, match=words):
        load(environment(file, **{variable: text}))


def test_a_number_out_of_its_bounds_in_the_file_is_named_with_its_line(file: Path) -> None:
    file.write_text("[daemon]\nport = 99999\n")
    with pytest.raises(
        SettingsError, match=r"box.toml:2: `daemon.port` must be a whole number from 0 to 65535"
    ):
        load(environment(file))


def test_an_empty_name_of_the_settings_file_is_none() -> None:
    assert load({"BOX_CONFIG": "", "XDG_CONFIG_HOME": "/nowhere"}).file == Path("/nowhere/inband/box.toml")


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("BOX_DAEMON_NAMES", "https://box.example"),
        ("BOX_DAEMON_NAMES", "box.example:8443"),
        ("BOX_DAEMON_NAMES", "*"),
        ("BOX_DAEMON_ORIGINS", "box.example"),
        ("BOX_DAEMON_ORIGINS", "https://box.example/"),
        ("BOX_DAEMON_ORIGINS", "*"),
        ("BOX_DAEMON_ORIGINS", "null"),
    ],
)
def test_names_and_origins_are_written_whole(file: Path, variable: str, text: str) -> None:  # D060 D061
    file.write_text("")
    with pytest.raises(SettingsError, match=rf"\${variable}: .*{re.escape(text)}.*write"):
        load(environment(file, **{variable: text}))


GRANTS = '[grants.agent]\nallow = ["dm.*"]\n\n[grants."agent/heron"]\nbox = ["disk"]\n'


def test_grants_are_read_as_they_are_written(file: Path) -> None:
    file.write_text(GRANTS)
    assert load(environment(file))["grants"] == {
        "agent": {"allow": ["dm.*"]},
        "agent/heron": {"box": ["disk"]},
    }


@pytest.mark.parametrize(
    ("wrong", "right", "line", "said"),
    [
        ("dm.*", "dm send", 2, "`agent`, `allow`: must be a list of globs"),
        ("disk", "dsik", 5, "`agent/heron`, `box`: must be a list of actions"),
        ("box", "boxes", 5, "`boxes`: no key of a grant. Did you mean box"),
        ("agent/heron", "agnet", 4, "neither a role"),
    ],
)
def test_a_wrong_grant_is_told_with_its_line(
    file: Path, wrong: str, right: str, line: int, said: str
) -> None:  # D007
    file.write_text(GRANTS.replace(wrong, right, 1))
    with pytest.raises(SettingsError) as raised:
        load(environment(file))
    assert f"{file}:{line}:" in str(raised.value)
    assert said.lower() in str(raised.value).lower()


def test_a_grant_that_stands_twice_is_no_settings_file(file: Path) -> None:  # D055
    file.write_text(GRANTS + "[grants.agent]\nallow = []\n")
    with pytest.raises(SettingsError, match="not TOML"):
        load(environment(file))

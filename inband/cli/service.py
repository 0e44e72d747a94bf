"""`box service`: the daemon and the watcher as a service of systemd."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import click

from inband.cli.shared import settings_of
from inband.errors import InputError
from inband.unit import Unit

_NAME = "inband.service"
_SYSTEM = Path("/etc/systemd/system")


@click.group()
def service() -> None:
    """Run the daemon and the watcher as a service of systemd."""


@service.command()
@click.option("--system", is_flag=True, help="A service of the machine, started at boot; needs root.")
@click.option("--user", "user", metavar="NAME", help="With --system: who it runs as (default: inband).")
@click.option("--print", "only_print", is_flag=True, help="Print the unit and change nothing.")
@click.pass_context
def install(ctx: click.Context, *, system: bool, user: str | None, only_print: bool) -> None:
    """Write the unit, hardened, and say how to start it.

    Without --system it is a service of your own, which runs while you are logged in, or always after
    `loginctl enable-linger`.

    \b
    Examples:
      box service install
      sudo box service install --system --user inband
    """
    name = (user or "inband") if system else None
    if name is not None and not only_print:
        _check_user(name)
    unit = Unit((*_argv(), "up"), settings_of(ctx).home, name)
    if only_print:
        click.echo(unit.text(), nl=False)
        return
    path = (_SYSTEM if system else _user_folder()) / _NAME
    _write(path, unit.text())
    flag = "" if system else " --user"
    click.echo(f"wrote {path}", err=True)
    _reload(flag)
    click.echo(f"start it now and from now on: systemctl{flag} enable --now inband", err=True)


@service.command()
@click.option("--system", is_flag=True, help="The service of the machine.")
def uninstall(*, system: bool) -> None:
    """Remove the unit. The state stays."""
    path = (_SYSTEM if system else _user_folder()) / _NAME
    if not path.exists():
        raise InputError(f"there is no {path}. `box service install` writes it.")
    path.unlink()
    click.echo(
        f"removed {path}; stop what runs: systemctl{'' if system else ' --user'} stop inband", err=True
    )


def _argv() -> tuple[str, ...]:
    """This program by its full path: a service has no PATH of yours."""
    found = shutil.which("box")
    launched = os.environ.get("BOX_CHECKOUT")
    if launched:
        return (str(Path(launched) / "box"),)
    return (found,) if found else (sys.executable, "-m", "inband")


def _check_user(name: str) -> None:
    try:
        pwd.getpwnam(name)
    except KeyError:
        way_out = f"sudo useradd --system --home-dir /var/lib/inband --create-home {name}"
        raise InputError(f"there is no user {name}. Make one: {way_out}") from None


def _user_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / "systemd" / "user"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as failed:
        raise InputError(f"{path} cannot be written: {failed.strerror}. Try sudo, or --print.") from None


def _reload(flag: str) -> None:
    """So that systemd knows the new text; where it does not run, the next start of it reads it anyway."""
    systemctl = shutil.which("systemctl")
    if systemctl is not None:
        subprocess.run([systemctl, *flag.split(), "daemon-reload"], check=False, capture_output=True)

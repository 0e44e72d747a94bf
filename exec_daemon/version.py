"""Which version of the program this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """As the installation says; `0` in a checkout, which is not installed."""
    try:
        return installed("inband")
    except PackageNotFoundError:
        return "0"

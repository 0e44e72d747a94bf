"""Which store the environment asks for: `BOX_ARTIFACTS`, a folder, or `BOX_UPLOADS`, pre-signed URLs.

Only the parent sets them. Both is a usage error, and so is a value that cannot be used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from messaging.artifact_stores.local import LocalStore
from messaging.artifact_stores.port import ArtifactStore
from messaging.sinks.errors import TransportError
from messaging.sinks.variables import Variables
from messaging.strict_json import StrictJsonError, loads


def artifact_store(environment: Mapping[str, str]) -> ArtifactStore | None:
    """The store, or None where none is set; raises `TransportError`."""
    variables = Variables(environment)
    folder, uploads = variables["ARTIFACTS"], variables["UPLOADS"]
    if folder and uploads:
        raise TransportError(variables.spelled("ARTIFACTS"), f"stands beside {variables.spelled('UPLOADS')}")
    if uploads:
        from messaging.artifact_stores.upload import UploadStore

        return UploadStore(_uploads(uploads, variables.spelled("UPLOADS")))
    return LocalStore(Path(folder)) if folder else None


def _uploads(text: str, variable: str) -> Sequence[Any]:
    """`[{"url": …, "uri": …}, …]`. The value holds signatures, so no message shows any of it."""
    from messaging.artifact_stores.upload import Upload

    try:
        return [Upload(url=_http(row["url"]), uri=str(row["uri"])) for row in _rows(loads(text))]
    except (StrictJsonError, TypeError, KeyError, ValueError):
        raise TransportError(variable, 'must be JSON: [{"url": "https://…", "uri": "s3://…"}]') from None


def _http(url: Any) -> str:
    if not str(url).startswith(("https://", "http://")):
        raise ValueError("no URL")
    return str(url)


def _rows(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value

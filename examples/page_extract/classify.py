"""What a URL promises, before anything is fetched."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit


class Kind(StrEnum):
    """Which extractor is asked."""

    PAGE = "page"
    TEXT = "text"
    MEDIA = "media"


_TEXT: Final = frozenset({".txt", ".md", ".rst", ".csv"})
_MEDIA: Final = frozenset({".jpg", ".jpeg", ".png", ".gif", ".webp", ".mp3", ".mp4", ".webm", ".pdf", ".zip"})
_KINDS: Final = dict.fromkeys(_TEXT, Kind.TEXT) | dict.fromkeys(_MEDIA, Kind.MEDIA)


def classify(url: str) -> Kind:
    """By the end of the path; what ends otherwise is taken for a page."""
    return _KINDS.get(PurePosixPath(urlsplit(url).path).suffix.lower(), Kind.PAGE)

"""Blocks in, the result out: JSON with the text as Markdown."""

from __future__ import annotations

from typing import TypedDict

from .extract import Extracted


class NothingToFormat(Exception):
    """The page could be read and says nothing."""


class Result(TypedDict):
    """What the `succeeded` event holds."""

    url: str
    title: str
    markdown: str
    words: int


def as_result(extracted: Extracted, url: str) -> Result:
    """The result; raises `NothingToFormat`."""
    if not extracted.blocks:
        raise NothingToFormat("the page has no text; it may be one that a browser has to run")
    markdown = "\n\n".join(block.prefix + block.text for block in extracted.blocks)
    words = sum(len(block.text.split()) for block in extracted.blocks)
    return Result(url=url, title=extracted.title, markdown=markdown + "\n", words=words)

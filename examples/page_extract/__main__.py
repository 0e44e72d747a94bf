"""`python -m page_extract URL`: the wiring. Events, sinks and exit codes are the library's."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal

from messaging import JobEmitter
from messaging.artifact_stores import Attachment, Produced
from messaging.guarded_fetch import FetchFailed, Guard, fetch
from messaging.sinks import ToolFailed, allowed_hosts, run_tool
from messaging.url_guard import UrlBlocked

from .classify import classify
from .extract import NotReadable, extract
from .format import NothingToFormat, as_result

Stage = Literal["classify", "extract", "format"]
Code = Literal["usage", "blocked_url", "extraction", "formatting", "general"]
Job = JobEmitter[Any, Stage, Code]

CODES: Final[Mapping[type[Exception], Code]] = MappingProxyType(
    {
        UrlBlocked: "blocked_url",
        FetchFailed: "extraction",
        NotReadable: "extraction",
        NothingToFormat: "formatting",
    }
)
# `host:port` of private pages, from whoever starts the tool; a page adds nothing to it.
EXCEPTIONS: Final = "PAGE_PRIVATE_HOSTS"


async def extract_page(job: Job, url: str, guard: Guard) -> Produced:
    """From a URL to its text; raises what `CODES` names."""
    await job.accepted(url)
    checked = await guard.check(url)
    await job.progress("classify")
    kind = classify(url)
    await job.progress("extract")
    page = await fetch(checked, guard)
    extracted = extract(page, kind)
    for warning in extracted.warnings:
        await job.warning(warning)
    await job.progress("format")
    return Produced(as_result(extracted, page.url), [Attachment(page.content, extracted.content_type)])


async def work(arguments: Sequence[str], guard: Guard, job: Job) -> Produced:
    """The job of one command line; its failures have the codes of M-14."""
    if len(arguments) != 1:
        raise ToolFailed("usage", "usage: page_extract URL")
    try:
        return await extract_page(job, arguments[0], guard)
    except tuple(CODES) as failure:
        raise ToolFailed(CODES[type(failure)], str(failure)) from failure


def main() -> int:
    """The exit code."""
    guard = Guard(exceptions=allowed_hosts(os.environ.get(EXCEPTIONS, "")))
    return asyncio.run(run_tool(os.environ, partial(work, sys.argv[1:], guard)))


if __name__ == "__main__":
    sys.exit(main())

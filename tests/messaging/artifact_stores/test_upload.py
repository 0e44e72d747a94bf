"""Uploads by pre-signed URLs: used in order, tried again, and their URLs are told to nobody (M-82, M-85)."""

from __future__ import annotations

import json
import logging
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from messaging import MessagingError, redact
from messaging.artifact_stores import (
    LocalStore,
    NoUploadLeft,
    StoreBroken,
    Upload,
    UploadStore,
    artifact_store,
)
from messaging.sinks import Retries, TransportError
from tests.serving import Serving, Silent

SIGNATURE = "0123456789abcdef0123456789abcdef"
QUERY = f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2Fus&X-Amz-Signature={SIGNATURE}"


class Bucket(Serving):
    """Answers each PUT with the next status."""

    def __init__(self, *statuses: int) -> None:
        self.got: list[tuple[str, str | None, bytes]] = []
        bucket, left = self, list(statuses)

        class Meet(Silent, BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                bucket.got.append((self.path, self.headers["content-type"], body))
                self.send_response(left.pop(0))
                self.send_header("location", "http://127.0.0.1:1/")
                self.send_header("content-length", "0")
                self.end_headers()

        super().__init__(Meet)

    def upload(self, number: int = 0) -> Upload:
        return Upload(url=f"http://{self.authority}/{number}?{QUERY}", uri=f"s3://b/{number}")


async def no_sleep(_: float) -> None:
    return None


def store(bucket: Bucket, uploads: int = 1) -> UploadStore:
    return UploadStore(
        [bucket.upload(number) for number in range(uploads)], retries=Retries(), sleep=no_sleep
    )


@pytest.fixture
def bucket(request: pytest.FixtureRequest) -> Any:
    with Bucket(*request.param) as made:
        yield made


@pytest.mark.parametrize("bucket", [(200, 200)], indirect=True)
async def test_each_artifact_uses_the_next_upload(bucket: Bucket) -> None:  # M-82
    uploads = store(bucket, 2)
    assert [(await uploads.put(text, "text/plain")).uri for text in (b"a", b"b")] == ["s3://b/0", "s3://b/1"]
    assert bucket.got == [(f"/0?{QUERY}", "text/plain", b"a"), (f"/1?{QUERY}", "text/plain", b"b")]
    with pytest.raises(NoUploadLeft):
        await uploads.put(b"c", "text/plain")


@pytest.mark.parametrize("bucket", [(503, 500, 200)], indirect=True)
async def test_an_upload_is_tried_again_where_that_may_help(bucket: Bucket) -> None:
    assert (await store(bucket).put(b"a", "text/plain")).bytes == 1


@pytest.mark.parametrize(
    ("bucket", "attempts"), [((403,), 1), ((307, 307, 307), 3), ((500, 500, 500), 3)], indirect=["bucket"]
)
async def test_an_upload_that_is_not_taken_is_told_without_its_url(
    bucket: Bucket, attempts: int
) -> None:  # M-85
    with pytest.raises(StoreBroken, match=f"s3://b/0 was not taken after {attempts} attempts") as caught:
        await store(bucket).put(b"a", "text/plain")
    assert SIGNATURE not in str(caught.value)
    assert len(bucket.got) == attempts  # a redirect is not followed


async def test_nobody_at_home_is_told_without_the_url() -> None:  # M-85
    with Bucket() as bucket:
        uploads = store(bucket)
    with pytest.raises(StoreBroken, match="ConnectError") as caught:
        await uploads.put(b"a", "text/plain")
    assert SIGNATURE not in repr(caught.value)


@pytest.mark.parametrize("bucket", [(200,)], indirect=True)
async def test_no_log_at_any_level_shows_the_signature(
    bucket: Bucket, caplog: pytest.LogCaptureFixture
) -> None:
    # M-85
    with caplog.at_level(logging.DEBUG):
        await store(bucket).put(b"a", "text/plain")
    assert "HTTP Request: PUT" in caplog.text
    assert SIGNATURE not in caplog.text
    assert SIGNATURE not in repr(bucket.upload())


def test_a_signed_query_is_redacted_wherever_text_is() -> None:  # M-85
    assert redact(f'PUT "https://s3.example/b/k?{QUERY}" ok') == 'PUT "https://s3.example/b/k?[REDACTED]" ok'


def test_the_environment_chooses_the_store() -> None:  # M-82
    uploads = json.dumps([{"url": "https://s3.example/b/k?x", "uri": "s3://b/k"}])
    assert artifact_store({}) is None
    assert isinstance(artifact_store({"BOX_ARTIFACTS": "/tmp/x"}), LocalStore)
    assert isinstance(artifact_store({"RECIPE_UPLOADS": uploads}), UploadStore)


@pytest.mark.parametrize(
    "uploads",
    ["x", "5", "{}", '["a"]', '[{"url": "ftp://a/secret", "uri": "s3://b"}]', '[{"url": "https://secret"}]'],
)
def test_uploads_that_are_none_are_a_usage_error_that_shows_nothing_of_them(uploads: str) -> None:  # M-85
    with pytest.raises(TransportError, match="BOX_UPLOADS") as caught:
        artifact_store({"BOX_UPLOADS": uploads})
    assert "secret" not in str(caught.value)


def test_two_stores_at_once_are_a_usage_error() -> None:
    with pytest.raises(MessagingError, match="BOX_ARTIFACTS"):
        artifact_store({"BOX_ARTIFACTS": "/tmp/x", "BOX_UPLOADS": "[]"})

"""An S3-compatible server as a process of its own, with one bucket."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2

from messaging.artifact_stores import Bucket
from tests.integration._nats_server import free_port
from tests.patience import until

BUCKET = "artifacts"
# moto takes any; boto3 looks for them in the environment, as it does at a user's.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@dataclass(frozen=True, slots=True)
class S3Server:
    url: str

    @property
    def bucket(self) -> Bucket:
        return Bucket(name=BUCKET, endpoint_url=self.url, prefix="inband/")


@contextmanager
def s3_server() -> Iterator[S3Server]:
    port = free_port()
    argv = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    running = subprocess.Popen(
        argv, env=os.environ | CREDENTIALS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _made(f"{url}/{BUCKET}"), lambda: "the S3 server does not answer")
        yield S3Server(url)
    finally:
        running.kill()
        running.wait()


def _made(bucket: str) -> bool:
    try:
        return httpx2.put(bucket, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False

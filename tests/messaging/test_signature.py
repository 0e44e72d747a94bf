"""Signatures of bodies (M-36, M-50), against values that OpenSSL and the specification give."""

from __future__ import annotations

import hmac
import os

import pytest

from messaging import sign, verify, verify_webhook, webhook_headers

# printf '{"a":1}' | openssl dgst -sha256 -hmac secret
KNOWN = "sha256=aa9e2e3575f5d7098b6caccd790888c36d5fdb63342a73bada2d6a51747a8494"


def test_a_signature_holds_for_the_same_secret_and_bytes_only() -> None:  # M-36
    made = sign("secret", b'{"a":1}')
    assert made == KNOWN
    assert verify("secret", b'{"a":1}', made)
    assert not verify("secret", b'{"a": 1}', made)
    assert not verify("other", b'{"a":1}', made)


def test_a_secret_is_the_bytes_that_stood_in_the_environment() -> None:  # M-36
    secret = os.fsdecode(b"s\xff\xc3\xa9")
    assert sign(secret, b"") == "sha256=" + hmac.digest(b"s\xff\xc3\xa9", b"", "sha256").hex()
    assert verify(secret, b"", sign(secret, b""))


@pytest.mark.parametrize("given", [None, "", "sha256=", "sha1=00", "sha256=" + "0" * 64, "\ud800", "é"])
def test_anything_else_is_no_signature(given: str | None) -> None:  # M-50
    assert not verify("secret", b"body", given)


# The example of the Standard Webhooks specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_webhook_headers_are_those_of_the_specification() -> None:
    assert webhook_headers(SECRET, MESSAGE, AT, BODY) == {
        "webhook-id": MESSAGE,
        "webhook-timestamp": str(AT),
        "webhook-signature": SIGNATURE,
    }


@pytest.mark.parametrize("secret", [SECRET, "plain", "whsec_not base64"])
def test_webhooks_are_believed_while_they_are_fresh(secret: str) -> None:
    headers = webhook_headers(secret, MESSAGE, AT, BODY)
    assert verify_webhook(secret, headers, BODY, AT + 299)
    assert not verify_webhook(secret, headers, BODY, AT + 301)
    assert not verify_webhook(secret, headers, BODY, AT - 301)
    assert not verify_webhook(secret, headers, BODY + b" ", AT)
    assert not verify_webhook(secret, headers | {"webhook-id": "other"}, BODY, AT)
    assert not verify_webhook(secret, headers | {"webhook-timestamp": "x"}, BODY, AT)
    assert not verify_webhook(secret, {}, BODY, AT)


def test_one_of_several_webhook_signatures_is_enough() -> None:
    headers = webhook_headers(SECRET, MESSAGE, AT, BODY)
    assert verify_webhook(SECRET, headers | {"webhook-signature": f"v1,AAAA {SIGNATURE}"}, BODY, AT)

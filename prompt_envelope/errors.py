"""What `prompt_envelope` raises: `EnvelopeError`, for misuse by the program that calls it."""

from __future__ import annotations


class EnvelopeError(ValueError):
    """The text is no envelope, a text cannot be sent in one directive, or a header field is impossible."""

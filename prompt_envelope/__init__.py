"""Text out: what an agent is told, in a form that runs nothing when it is repeated.

Public names: `wrap`, `unwrap` and `is_envelope` with `EnvelopeContext`; `hints` and what they are made of;
`dm_call`; `EnvelopeError`, the one error of the package.
"""

from prompt_envelope.directives import dm_call, example_call, placeholder_call
from prompt_envelope.envelope import is_envelope, unwrap, wrap
from prompt_envelope.errors import EnvelopeError
from prompt_envelope.header import EnvelopeContext
from prompt_envelope.hints import hint, hints

__all__ = [
    "EnvelopeContext",
    "EnvelopeError",
    "dm_call",
    "example_call",
    "hint",
    "hints",
    "is_envelope",
    "placeholder_call",
    "unwrap",
    "wrap",
]

"""Who counts as the author of a message that an identity posts, and what it may post: one table (O-83).

What makes a reply, whose directives run, is decided here: only an agent's own token, or a harvester or
operator that records what an agent wrote elsewhere, gives a message with an agent as its author.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from exec_daemon.access.identity import Identity, Role
from messaging import AuthorKind, MessageKind


@dataclass(frozen=True, slots=True)
class Authorship:
    """How the messages of a role are recorded; the first of `kinds` is the default."""

    kind: AuthorKind
    kinds: tuple[MessageKind, ...]


AUTHORSHIP: Mapping[Role, Authorship] = MappingProxyType(
    {
        Role.OPERATOR: Authorship(
            AuthorKind.HUMAN,
            (MessageKind.TEXT, MessageKind.ENVELOPE, MessageKind.NOTICE, MessageKind.WORK_ORDER),
        ),
        Role.AGENT: Authorship(AuthorKind.AGENT, (MessageKind.TEXT,)),
        Role.HARVESTER: Authorship(
            AuthorKind.SYSTEM, (MessageKind.RESULT, MessageKind.NOTICE, MessageKind.ENVELOPE)
        ),
    }
)

# A reply that an agent wrote in another place.
RECORDED: Authorship = Authorship(AuthorKind.AGENT, (MessageKind.TEXT,))
RECORDERS = frozenset({Role.OPERATOR, Role.HARVESTER})


def author_name(identity: Identity, authorship: Authorship) -> str:
    """The author as the thread shows it: a person's or agent's name, `harvester` for what the system says."""
    return str(identity.role) if authorship.kind is AuthorKind.SYSTEM else identity.name

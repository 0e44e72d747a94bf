"""What happens when a leaf block ends: its inside is examined, its body is run, or it is inert."""

from __future__ import annotations

from harvester.events import Directive, Form, SkipReason
from harvester.scanner.curl import read_curl
from harvester.scanner.examination import Cut, examine
from harvester.scanner.fences import read_body
from harvester.scanner.leaves import Fence, Hidden, Leaf, Paragraph
from harvester.scanner.ledger import Ledger
from harvester.scanner.passage import Passage
from patterns import vocabulary


def run_fence(fence: Fence, ledger: Ledger) -> None:
    """GRAMMAR 3 and 6: fenced code that its fence closed. All of it runs or nothing."""
    words, span = vocabulary(), (fence.hidden.start, fence.hidden.end)
    if fence.pieces is None:
        fence.hidden.close(ledger)
    elif fence.language in words.shell_fences:
        _run_command(fence, ledger)
    elif fence.long:
        ledger.skip(SkipReason.BLOCK_TOO_LONG, span)
    else:
        _run_body(fence, fence.pieces, ledger)


def _run_body(fence: Fence, pieces: list[tuple[str, int]], ledger: Ledger) -> None:
    body, span = Passage(pieces), (fence.hidden.start, fence.hidden.end)
    placed = read_body(body, fence.language, ledger.policy)
    if placed is None:
        ledger.skip(SkipReason.BAD_BLOCK, span)
        return
    ledger.run(
        [Directive(Form.F5, op, args, body.span(a, b), name) for (op, args, name), a, b in placed], span
    )


def _run_command(fence: Fence, ledger: Ledger) -> None:
    """GRAMMAR 6: a shell's fence that holds exactly one command, and that is a call of ours."""
    body = Passage(fence.pieces or [])
    call = None if fence.long else read_curl(body.text.lstrip(" \t\n"), ledger.policy, documents=True)
    if call is None:
        fence.hidden.close(ledger)
        return
    content = body.text.strip(" \t\n")
    start = body.text.index(content)
    span = body.span(start, start + len(content))
    ledger.run_one(Directive(Form.F6, call.op, call.args, span, call.id))


def close_unfinished(leaf: Leaf, ledger: Ledger, inert: SkipReason | None, *, heading: bool) -> Cut | None:
    """A leaf ends because something else begins, or the reply does."""
    if isinstance(leaf, Paragraph):
        if not leaf.long:
            return examine(leaf.pieces, ledger, inert, curl=not heading)
        leaf.hide(inert or SkipReason.TOO_LONG, ledger)
    elif isinstance(leaf, Hidden):
        leaf.close(ledger)
    elif isinstance(leaf, Fence):
        _close_cut_off(leaf, ledger)
    return None


def _close_cut_off(fence: Fence, ledger: Ledger) -> None:
    if fence.pieces is not None and fence.language in vocabulary().call_fences:
        ledger.skip(SkipReason.CUT_OFF, (fence.hidden.start, fence.hidden.end))
    else:
        fence.hidden.close(ledger)

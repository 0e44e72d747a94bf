"""The fuzzer of the scanner: a short run finds nothing; each kind of fault is found, made small and kept."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from harvester.events import Event, Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from tests.fuzz._checks import Fault, Make, fault
from tests.fuzz._totals import next_block, runs
from tests.fuzz.scanner import BLOCK_INPUTS, block_texts, main, read_block

# Behind all that `./box fuzz scanner` reads in a lifetime, so that these are read in no run but this.
SHORT_RUN = 10**9


def test_a_short_seeded_run_finds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    totals, faults = tmp_path / "totals.jsonl", tmp_path / "faults.jsonl"
    words = ["--inputs", "2000", "--seed", str(SHORT_RUN), "--jobs", "1"]
    assert main(words, totals, faults) == 0
    assert not faults.exists()
    assert "| this run | 1 | 2,000 | 0 |" in capsys.readouterr().out


def test_a_block_is_the_same_texts_each_time_and_no_other_blocks() -> None:
    first = list(block_texts(1))
    assert first == list(block_texts(1))
    assert len(first) == BLOCK_INPUTS
    assert first != list(block_texts(2))


def test_runs_add_up_and_each_goes_on_behind_the_last(tmp_path: Path) -> None:
    totals, faults = tmp_path / "totals.jsonl", tmp_path / "faults.jsonl"
    for words in (["--inputs", "1"], ["--inputs", str(BLOCK_INPUTS + 1)], ["--inputs", "1", "--seed", "1"]):
        assert main([*words, "--jobs", "1"], totals, faults, read=_nothing) == 0
    done = runs(totals)
    assert [(run.first, run.end) for run in done] == [(0, 1), (1, 3), (1, 2)]
    assert next_block(done, done[0].subject) == 3
    assert next_block(done, "another source") == 0


def test_a_line_of_the_totals_that_a_kill_cut_off_does_not_count(tmp_path: Path) -> None:
    totals = tmp_path / "totals.jsonl"
    main(["--inputs", "1", "--jobs", "1"], totals, tmp_path / "faults", read=_nothing)
    whole = totals.read_text()
    totals.write_text(whole + whole[:20])
    assert len(runs(totals)) == 1


def test_blocks_are_read_on_several_processes_in_order(tmp_path: Path) -> None:
    totals = tmp_path / "totals.jsonl"
    words = ["--inputs", str(2 * BLOCK_INPUTS), "--jobs", "2", "--seed", str(SHORT_RUN)]
    assert main(words, totals, tmp_path / "faults.jsonl", read=_nothing) == 0
    assert [(run.first, run.end) for run in runs(totals)] == [(SHORT_RUN, SHORT_RUN + 2)]


def _nothing(_block: int) -> list[Fault]:
    return []


# ---- scanners that are broken on purpose -----------------------------------------------------------


class _Raises(Scanner):
    def feed(self, text: str) -> list[Event]:
        if "~~" in text:
            raise RecursionError("too deep")
        return super().feed(text)


class _Hangs(Scanner):
    def feed(self, text: str) -> list[Event]:
        while "“" in text:
            pass
        return super().feed(text)


class _HoldsNoHalfLineEnd(Scanner):
    def feed(self, text: str) -> list[Event]:
        return super().feed(text.removesuffix("\r") + "\n" if text.endswith("\r") else text)


class _DecodesEachPiece(Scanner):
    def feed_bytes(self, data: bytes) -> list[Event]:
        return self.feed(data.decode("utf-8", "replace"))


class _PointsBehindTheReply(Scanner):
    def close(self) -> list[Event]:
        return [*super().close(), Skipped(SkipReason.PROSE, (10_000, 10_001))]


class _PointsBack(Scanner):
    def close(self) -> list[Event]:
        found = super().close()
        return [*found, *found[:1]] if len({event.span[0] for event in found}) > 1 else found


class _Overlaps(Scanner):
    def close(self) -> list[Event]:
        found = super().close()
        return [*found, *found[-1:]]


BROKEN = {
    "raises RecursionError": _Raises,
    "hang": _Hangs,
    "single characters differ": _HoldsNoHalfLineEnd,
    "bytes differ": _DecodesEachPiece,
    "a span out of bounds": _PointsBehindTheReply,
    "spans out of order": _PointsBack,
    "spans overlap": _Overlaps,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_scanner_is_found_out(kind: str) -> None:
    make: Make = BROKEN[kind]
    texts = (text for block in range(4) for text in block_texts(block))
    found = next(one for text in texts if (one := fault(text, make, seconds=0.05)))
    assert found.kind == kind


def test_a_fault_is_made_small_and_kept_as_a_line_of_a_case_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faults, words = tmp_path / "faults.jsonl", ["--inputs", "500", "--jobs", "1"]
    assert main(words, tmp_path / "totals", faults, read=partial(read_block, make=_Raises)) == 1
    (case,) = [json.loads(line) for line in faults.read_text().splitlines()]
    assert case["text"] == "~~"
    assert case["why"].startswith("raises RecursionError: too deep")
    assert {"id", "kind", "expect"} < case.keys()
    assert str(faults) in capsys.readouterr().out


def test_a_result_that_runs_is_found_out() -> None:
    class _SeesResults(Scanner):
        def feed(self, text: str) -> list[Event]:
            return super().feed(text.replace("#1 job.get", "[TOOL tools.list]\n\n"))

    found = next(one for text in block_texts(0) if (one := fault(text, _SeesResults)))
    assert found.kind == "a posted result runs"


@pytest.mark.parametrize("words", [["--inputs", "0"], ["--jobs", "0"], ["--inputs", "many"], ["more"]])
def test_numbers_that_make_no_sense_are_refused(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(words, tmp_path / "totals")
    assert refused.value.code == 2
    assert "usage: ./box fuzz scanner" in capsys.readouterr().err


def test_the_policies_of_a_run_reach_each_limit() -> None:
    reasons = set()
    for text in block_texts(3):
        for policy in (ScanPolicy(max_calls=2), ScanPolicy(max_reply_bytes=48)):
            scanner = Scanner(policy)
            found = scanner.feed(text) + scanner.close()
            reasons |= {event.reason for event in found if isinstance(event, Skipped)}
    assert {SkipReason.LIMIT_CALLS, SkipReason.LIMIT_REPLY} <= reasons

"""Every output of the conformance suite at every two-way split, and damaged ones in random pieces.

`./box fuzz dialects [SECONDS]`; each seed is printed where something differs, so a find can be repeated.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from canitoolcall.fixtures import Fixture, load_fixtures

from harvester.dialects import DIALECTS, Completion, Reader
from tests.harvester.dialects._suite import facts, random_pieces, read


def every_split(fixture: Fixture) -> int:
    """The splits at which the output reads differently."""
    text = fixture.raw_output
    whole = facts(read(fixture, [text]))
    bad = [cut for cut in range(len(text)) if facts(read(fixture, [text[:cut], text[cut:]])) != whole]
    if bad:
        print(f"{fixture.id}: differs at {bad[:10]}")
    return len(bad)


def damaged(chance: random.Random, fixtures: list[Fixture]) -> tuple[str, str]:
    """A dialect and a text made of parts of its outputs, of another's too, with pieces lost and doubled."""
    first, second = chance.choice(fixtures), chance.choice(fixtures)
    parts = []
    for text in (first.raw_output, second.raw_output, first.raw_output):
        begin, end = sorted(chance.choices(range(len(text) + 1), k=2))
        parts.append(text[:begin] + text[end:] if chance.random() < 0.7 else text[begin:end])
    return first.family, "".join(parts)[:3000]


def seen(dialect: str, prompt: str | None, truncated: bool, pieces: list[str]) -> tuple[object, ...]:
    reader = Reader(dialect, generation_prompt=prompt, truncated=truncated)
    said = [found for piece in pieces for found in reader.feed(piece)]
    return facts(Completion.of([*said, *reader.close()]))


def one(seed: int, fixtures: list[Fixture]) -> int:
    chance = random.Random(seed)
    family, text = damaged(chance, fixtures)
    dialect = chance.choice([family, family, "auto", *DIALECTS])
    prompt, truncated = chance.choice([None, "", "<think>", "[THINK]"]), chance.random() < 0.3
    whole = seen(dialect, prompt, truncated, [text])
    parted = seen(dialect, prompt, truncated, list(random_pieces(text, seed)))
    if whole != parted:
        print(f"seed {seed}: {dialect} {prompt!r} differs on {text!r}\n  {whole}\n  {parted}")
    return whole != parted


def main(seconds: float = 60.0) -> int:
    fixtures = load_fixtures()
    bad = sum(every_split(fixture) for fixture in fixtures)
    splits = sum(len(fixture.raw_output) for fixture in fixtures)
    print(f"{len(fixtures)} outputs, {splits} two-way splits, {bad} differ", flush=True)
    end, seed = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        bad += one(seed, fixtures)
        seed += 1
    print(f"{seed} damaged texts, {bad} differences in all")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))

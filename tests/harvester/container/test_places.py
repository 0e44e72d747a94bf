"""Who gets the next container."""

from __future__ import annotations

from harvester.container.places import Kind, Places, Work


def work(lane: str, kind: Kind = Kind.MESSAGE, name: str = "messages") -> Work:
    return Work(lane, kind, name)


def test_five_run_at_once_one_of_a_lane_and_tasks_go_before_messages() -> None:
    # T-85
    places = Places()
    for number in range(6):
        places.ask(work(f"lane{number}"))
    places.ask(work("lane0", Kind.TASK, "t1"))
    places.ask(work("lane9", Kind.TASK, "t2"))
    began = [one for _ in range(8) if (one := places.take(0.0))]
    assert [(one.lane, one.kind) for one in began] == [
        ("lane0", Kind.TASK),
        ("lane9", Kind.TASK),
        ("lane1", Kind.MESSAGE),
        ("lane2", Kind.MESSAGE),
        ("lane3", Kind.MESSAGE),
    ]
    places.ended(began[0], 1.0, well=True)
    following = places.take(1.0)
    assert following == work("lane0")


def test_the_same_work_waits_once() -> None:
    # T-85
    places = Places()
    assert places.ask(work("a", Kind.TASK, "t"))
    assert not places.ask(work("a", Kind.TASK, "t"))
    assert places.ask(work("a", Kind.TASK, "u"))
    first = places.take(0.0)
    assert first is not None
    assert not places.ask(first)
    places.ended(first, 0.0, well=True)
    assert places.ask(first)


def test_a_failure_is_tried_again_five_times_at_growing_distances() -> None:
    # T-85
    places, now, pauses = Places(), 0.0, []
    places.ask(work("a"))
    while one := places.take(now):
        again = places.ended(one, now, well=False)
        if again is None:
            break
        assert places.take(again.due - 0.1) is None
        pauses.append(again.due - now)
        now = again.due
    assert pauses == [5.0, 10.0, 20.0, 40.0, 80.0]
    assert places.lanes == frozenset()

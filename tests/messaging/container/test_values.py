"""The documents of the protocol: what they need, what they leave out, and that they come back whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from messaging.container import (
    SCHEDULED_PREFIX,
    ChatMessage,
    ContainerInput,
    ContainerOutput,
    FileNames,
    FollowUp,
    LlmEndpoint,
    ScriptResult,
    SessionUsage,
    Status,
    WireError,
    first_prompt,
    is_file_name,
    is_folder,
    script_result,
    woken_prompt,
)

START = {"prompt": "hi", "groupFolder": "family", "chatJid": "tg:1", "isMain": False}
LLM = {"baseUrl": "http://127.0.0.1:1/v1", "token": "t0p-s3cret", "model": "big", "maxContextTokens": 8000}


def test_an_output_always_has_its_result_and_leaves_out_what_is_not_there() -> None:
    # T-06
    assert ContainerOutput(status=Status.ERROR, error="e").to_json() == {
        "status": "error",
        "result": None,
        "error": "e",
    }
    whole = {
        "status": "success",
        "result": "r",
        "newSessionId": "s",
        "usage": {"input_tokens": 0, "cache_read_input_tokens": 5},  # T-07
        "consumedInputs": [],
    }
    assert ContainerOutput.from_json(whole).to_json() == whole
    assert ContainerOutput.from_json({"status": "success"}).consumed_inputs is None  # T-10


@pytest.mark.parametrize(("result", "idle"), [(None, True), ("", False), ("x", False)])
def test_a_success_without_a_result_says_idle(result: str | None, idle: bool) -> None:
    # T-29
    assert ContainerOutput(status=Status.SUCCESS, result=result).is_idle is idle


@pytest.mark.parametrize("names", ["a.json", [1], {}])
def test_names_of_follow_ups_are_a_list_of_strings(names: Any) -> None:
    # T-10
    with pytest.raises(WireError, match="consumedInputs"):
        ContainerOutput.from_json({"status": "success", "consumedInputs": names})


def test_the_context_is_what_went_in() -> None:
    # T-08
    usage = SessionUsage(input_tokens=10, output_tokens=99, cache_read_input_tokens=5)
    assert usage.context_size == 15
    assert SessionUsage().context_size == 0


def test_usage_of_openai_is_told_in_our_words() -> None:
    # T-09
    told = {"prompt_tokens": 30, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 10}}
    assert SessionUsage.from_openai(told) == SessionUsage(
        input_tokens=20, output_tokens=7, cache_read_input_tokens=10
    )
    assert SessionUsage.from_openai({"prompt_tokens": 3}) == SessionUsage(input_tokens=3)
    assert SessionUsage.from_openai({"prompt_tokens": None, "completion_tokens": -1}) == SessionUsage()


def test_a_start_has_defaults_and_passes_over_what_it_does_not_know() -> None:
    # T-16
    start = ContainerInput.from_text(json.dumps(START | {"future": [1], "sessionId": None}))
    assert (start.is_scheduled_task, start.ephemeral, start.session_id, start.llm) == (
        False,
        False,
        None,
        None,
    )
    assert ContainerInput.from_json(start.to_json()) == start


@pytest.mark.parametrize("missing", START)
def test_a_start_without_a_required_field_names_it(missing: str) -> None:
    # T-15, T-16
    less = {key: value for key, value in START.items() if key != missing}
    with pytest.raises(WireError, match=f"Failed to parse input: {missing}: is missing"):
        ContainerInput.from_text(json.dumps(less))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"prompt":"a","prompt":"b"}', "\ufeff{}"])
def test_a_start_that_is_no_json_object_says_so(text: str) -> None:
    # T-15
    with pytest.raises(WireError, match="Failed to parse input"):
        ContainerInput.from_text(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [("isMain", 1), ("prompt", None), ("script", 3), ("chatJid", " "), ("ephemeral", "no")],
)
def test_a_start_of_the_wrong_type_names_the_field(field: str, value: Any) -> None:
    with pytest.raises(WireError) as wrong:
        ContainerInput.from_json(START | {field: value})
    assert wrong.value.field == field


def test_a_model_falls_back_to_the_one_that_is_named() -> None:
    # T-17
    whole = LLM | {
        "fastModel": "small",
        "maxOutputTokens": 5,
        "temperature": 0.5,
        "topP": 1.0,
        "enableThinking": False,
        "requestTimeoutSecs": 9,
    }
    assert LlmEndpoint.from_json(whole).to_json() == whole
    assert LlmEndpoint.from_json(whole).quick == "small"
    assert LlmEndpoint.from_json(LLM).quick == "big"
    for field, value in (("maxContextTokens", -1), ("temperature", "hot"), ("topP", True)):
        with pytest.raises(WireError) as wrong:
            ContainerInput.from_json(START | {"llm": LLM | {field: value}})
        assert wrong.value.field == f"llm.{field}"


def test_no_representation_shows_the_token() -> None:
    # T-18
    assert "t0p-s3cret" not in repr(ContainerInput.from_json(START | {"llm": LLM}))


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime", "UTC+25"])
def test_a_time_zone_that_is_none_is_an_error(zone: str) -> None:
    # T-20
    with pytest.raises(WireError, match="timezone"):
        ContainerInput.from_json(START | {"timezone": zone})
    assert ContainerInput.from_json(START | {"timezone": "Europe/Berlin"}).timezone == "Europe/Berlin"


def test_a_timers_prompt_says_so_and_waiting_follow_ups_join_it() -> None:
    # T-21, T-27
    assert first_prompt("do", scheduled=True) == f"{SCHEDULED_PREFIX}\n\ndo"
    assert first_prompt("do", scheduled=False, pending=["one", "two"]) == "do\none\ntwo"


def test_a_woken_agent_reads_what_its_script_found() -> None:
    # T-77
    assert woken_prompt("look", {"new": 2}) == (
        '[SCHEDULED TASK]\n\nScript output:\n{\n  "new": 2\n}\n\nInstructions:\nlook'
    )


@pytest.mark.parametrize(
    ("stdout", "wakes"),
    [
        ('noise\n{"wakeAgent": true, "data": 1}\n', True),
        ('{"wakeAgent": true}\n{"wakeAgent": false}\n\n', False),
        ('{"wakeAgent": "true"}', False),
        ('{"wakeAgent": 1}', False),
        ("{}", False),
        ("nope", False),
        ('{"wakeAgent": true} trailing', False),
        ("", False),
        ("\n \n", False),
    ],
)
def test_only_a_clear_yes_in_the_last_line_wakes(stdout: str, wakes: bool) -> None:
    # T-75, T-76
    assert script_result(stdout).wake_agent is wakes
    assert bool(script_result(stdout).reason) is (not wakes and '"wakeAgent": false' not in stdout)


def test_what_a_script_found_is_kept() -> None:
    # T-75
    assert script_result('{"wakeAgent":true,"data":[1]}') == ScriptResult(wake_agent=True, data=[1])


def test_names_sort_as_they_were_made_even_when_the_clock_stands_still_or_goes_back() -> None:
    # T-36
    clock = iter([1796040000000, 1796040000000, 1796040000000, 1700000000000, 1796040000009])
    names = FileNames(lambda: next(clock), lambda digits: "f" * digits)
    made = [names.next() for _ in range(5)]
    assert made == sorted(set(made))
    assert all(map(is_file_name, made))


@pytest.mark.parametrize("name", ["a.json", "1796040000000-abcdef.json.tmp", "1796040000000-ABCDEF.json"])
def test_other_names_are_none_of_ours(name: str) -> None:
    # T-36
    assert not is_file_name(name)


@pytest.mark.parametrize(
    ("folder", "good"),
    [
        ("family", True),
        ("A-1_b", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("global", False),
        ("errors", False),  # T-39
        ("", False),
        (".", False),
        ("..", False),
        ("a/b", False),
        ("-a", False),
        ("a\n", False),
    ],
)
def test_a_folder_is_one_plain_name_and_no_reserved_one(folder: str, good: bool) -> None:
    # T-54
    assert is_folder(folder) is good


def test_a_follow_up_and_a_chat_message_have_their_type() -> None:
    # T-13, T-25
    assert FollowUp.from_json({"type": "message", "text": "x"}).to_json() == {"type": "message", "text": "x"}
    written = {"type": "message", "chatJid": "tg:1", "text": "x", "groupFolder": "a", "sender": "b"}
    assert ChatMessage.from_json(written).to_json() == written
    bad: Any
    for bad in (
        {"text": "x"},
        {"type": "message"},
        {"type": "note", "text": "x"},
        [],
        {"type": "message", "text": 1},
    ):
        with pytest.raises(WireError):
            FollowUp.from_json(bad)


@pytest.mark.parametrize("missing", ["chatJid", "text", "type"])
def test_a_chat_message_without_chat_or_text_is_none(missing: str) -> None:
    # T-13
    whole = {"type": "message", "chatJid": "tg:1", "text": "x"}
    with pytest.raises(WireError):
        ChatMessage.from_json({key: value for key, value in whole.items() if key != missing})

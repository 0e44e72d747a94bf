"""What a model's template writes is read back: any reasoning, content and calls, in every marked format."""

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvester.dialects import Completion, Reader


class Turn(NamedTuple):
    reasoning: str
    content: str
    calls: tuple[tuple[str, dict[str, Any]], ...]


def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def raw(value):
    """A value where strings stand as they are and the rest is JSON."""
    return value if isinstance(value, str) else dumps(value)


def think(turn, blank="\n"):
    return f"<think>{blank}{turn.reasoning}{blank}</think>{blank}{blank}" if turn.reasoning else ""


def hermes(turn):
    calls = "\n".join(
        f"<tool_call>\n{dumps({'name': name, 'arguments': args})}\n</tool_call>" for name, args in turn.calls
    )
    return f"{think(turn)}{turn.content}" + (f"\n{calls}" if calls else "")


def qwen_xml(turn):
    calls = [
        f"<tool_call>\n<function={name}>\n"
        + "".join(f"<parameter={key}>\n{raw(value)}\n</parameter>\n" for key, value in args.items())
        + "</function>\n</tool_call>"
        for name, args in turn.calls
    ]
    return f"{think(turn)}{turn.content}" + "".join(f"\n\n{call}" for call in calls)


def glm(turn):
    calls = [
        f"<tool_call>{name}"
        + "".join(
            f"<arg_key>{key}</arg_key><arg_value>{raw(value)}</arg_value>" for key, value in args.items()
        )
        + "</tool_call>"
        for name, args in turn.calls
    ]
    return f"{think(turn, '')}{turn.content}{''.join(calls)}"


def kimi_k2(turn):
    opened, said, closed = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
    calls = [
        f"{opened}functions.{name}:{index}{said}{dumps(args)}{closed}"
        for index, (name, args) in enumerate(turn.calls)
    ]
    section = f"<|tool_calls_section_begin|>{''.join(calls)}<|tool_calls_section_end|>" if calls else ""
    return f"{think(turn, '')}{turn.content}{section}"


KINDS = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}


def kimi_k3(turn):
    def argument(key, value):
        kind = KINDS.get(type(value), "null")
        return f'<|open|>argument key="{key}" type="{kind}"<|sep|>{raw(value)}<|close|>argument<|sep|>'

    calls = [
        f'<|open|>call tool="{name}" index="{index}"<|sep|>'
        + "".join(argument(*pair) for pair in args.items())
        + "<|close|>call<|sep|>"
        for index, (name, args) in enumerate(turn.calls, 1)
    ]
    thought = f"<|open|>think<|sep|>{turn.reasoning}<|close|>think<|sep|>" if turn.reasoning else ""
    tools = f"<|open|>tools<|sep|>{''.join(calls)}<|close|>tools<|sep|>" if calls else ""
    response = f"<|open|>response<|sep|>{turn.content}<|close|>response<|sep|>"
    return f"{thought}{response}{tools}<|close|>message<|sep|>"


def deepseek_v3(turn):
    calls = [
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{dumps(args)}\n```<｜tool▁call▁end｜>"
        for name, args in turn.calls
    ]
    section = f"<｜tool▁calls▁begin｜>{chr(10).join(calls)}<｜tool▁calls▁end｜>" if calls else ""
    return f"{think(turn, '')}{turn.content}{section}"


def deepseek_v31(turn):
    calls = [
        f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{dumps(args)}<｜tool▁call▁end｜>"
        for name, args in turn.calls
    ]
    section = f"<｜tool▁calls▁begin｜>{''.join(calls)}<｜tool▁calls▁end｜>" if calls else ""
    return f"{think(turn, '')}{turn.content}{section}"


def dsml(section, blank):
    def write(turn):
        mark = f"｜DSML｜{blank}"
        calls = [
            f'<{mark}invoke name="{name}">\n'
            + "\n".join(
                f'<{mark}parameter name="{key}" string="{dumps(isinstance(value, str))}">{raw(value)}'
                f"</{mark}parameter>"
                for key, value in args.items()
            )
            + f"\n</{mark}invoke>"
            for name, args in turn.calls
        ]
        block = f"\n\n<{mark}{section}>\n{chr(10).join(calls)}\n</{mark}{section}>" if calls else ""
        return f"{think(turn, '')}{turn.content}{block}"

    return write


def mistral_v3(turn):
    calls = [{"name": name, "arguments": args, "id": "123456789"} for name, args in turn.calls]
    return turn.content + (f"[TOOL_CALLS] {dumps(calls)}" if calls else "")


def mistral_v13(turn):
    thought = f"[THINK]{turn.reasoning}[/THINK]" if turn.reasoning else ""
    calls = "".join(f"[TOOL_CALLS]{name}[ARGS]{dumps(args)}" for name, args in turn.calls)
    return f"{thought}{turn.content}{calls}"


def gemma(turn):
    def value(item):
        if isinstance(item, str):
            return f'<|"|>{item}<|"|>'
        if isinstance(item, dict):
            return "{" + ",".join(f"{key}:{value(one)}" for key, one in item.items()) + "}"
        if isinstance(item, list):
            return "[" + ",".join(map(value, item)) + "]"
        return dumps(item)

    thought = f"<|channel>thought\n{turn.reasoning}\n<channel|>" if turn.reasoning else ""
    calls = "".join(f"<|tool_call>call:{name}{value(args)}<tool_call|>" for name, args in turn.calls)
    return f"{thought}{calls}{turn.content}"


def harmony(turn):
    start = "<|start|>assistant"
    parts = [f"{start}<|channel|>analysis<|message|>{turn.reasoning}<|end|>"] if turn.reasoning else []
    parts += [f"{start}<|channel|>commentary<|message|>{turn.content}<|end|>"] if turn.content else []
    parts += [
        f"{start}<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{dumps(args)}<|call|>"
        for name, args in turn.calls
    ]
    return "".join(parts).removeprefix(start)


def anthropic(turn):
    thought = f"<thinking>\n{turn.reasoning}\n</thinking>\n" if turn.reasoning else ""
    calls = [
        f'<invoke name="{name}">\n'
        + "".join(f'<parameter name="{key}">{raw(value)}</parameter>\n' for key, value in args.items())
        + "</invoke>"
        for name, args in turn.calls
    ]
    block = f"\n\n<function_calls>\n{chr(10).join(calls)}\n</function_calls>" if calls else ""
    return f"{thought}{turn.content}{block}"


# Dialect, writer, and whether the format has reasoning.
FORMATS = {
    "hermes": ("qwen3-hermes", hermes, True),
    "qwen xml": ("qwen3-xml", qwen_xml, True),
    "glm": ("glm", glm, True),
    "kimi k2": ("kimi", kimi_k2, True),
    "kimi k3": ("kimi", kimi_k3, True),
    "deepseek v3": ("deepseek", deepseek_v3, True),
    "deepseek v3.1": ("deepseek", deepseek_v31, True),
    "deepseek v3.2": ("deepseek", dsml("function_calls", ""), True),
    "deepseek v4": ("deepseek", dsml("tool_calls", ""), True),
    "deepseek v4.1": ("deepseek", dsml("calls", " "), True),
    "mistral v3": ("mistral", mistral_v3, False),
    "mistral v13": ("mistral", mistral_v13, True),
    "gemma": ("gemma4", gemma, True),
    "harmony": ("gpt-oss", harmony, True),
    "anthropic": ("anthropic", anthropic, True),
}

# Words of prose, and markup that means nothing where it stands: no marker of the format that holds it.
WORDS = st.sampled_from(
    ["so", "Zürich", "日本", "😀", "a<b", "{", "}", "[x]", '"q"', "\\n", "<b>", "</p>", "1.5", "null", "`x`"]
)
PROSE = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
NAMES = st.sampled_from(["send", "get_time", "fs.read-file", "a1"])
KEYS = st.sampled_from(["city", "x_1", "key with space", "to"])
MARKUP = st.sampled_from(
    [
        "<tool_call>",
        "</tool_call> ",
        "<think>",
        "</think>",
        "<|call|>",
        "[ARGS]",
        "<|end|> ",
        "```",
        "<arg_key>",
        "x",
    ]
)
STRINGS = st.one_of(PROSE, st.lists(MARKUP, max_size=3).map("".join), st.text(max_size=20))
SCALARS = st.one_of(
    STRINGS, st.booleans(), st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(SCALARS)), max_size=3),
)
TURNS = st.builds(
    Turn,
    reasoning=st.one_of(st.just(""), PROSE),
    content=st.one_of(st.just(""), PROSE.map(lambda text: f"{text}.")),
    calls=st.lists(st.tuples(NAMES, st.dictionaries(KEYS, VALUES, max_size=3)), max_size=3).map(tuple),
)

JSON_TYPE = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}


def tools(turn):
    """Schemas that give each argument the type of its value; no schema has two types for one name."""
    found: dict[str, dict[str, Any]] = {}
    for name, args in turn.calls:
        for key, value in args.items():
            found.setdefault(name, {}).setdefault(key, {"type": JSON_TYPE.get(type(value), "null")})
    return [{"name": name, "parameters": {"properties": schemas}} for name, schemas in found.items()]


def consistent(turn):
    types: dict[tuple[str, str], type] = {}
    return all(
        types.setdefault((name, key), type(value)) is type(value)
        for name, args in turn.calls
        for key, value in args.items()
    )


@pytest.mark.parametrize(("dialect", "write", "thinks"), FORMATS.values(), ids=FORMATS)
@settings(max_examples=40)
@given(TURNS.filter(consistent))
def test_what_a_template_writes_is_read_back(dialect, write, thinks, turn):
    turn = turn if thinks else turn._replace(reasoning="")
    text = write(turn)
    for pieces in ([text], list(text)):
        reader = Reader(dialect, tools=tools(turn), generation_prompt="")
        completion = Completion.of(
            [*(one for piece in pieces for one in reader.feed(piece)), *reader.close()]
        )
        assert [(call.name, call.arguments) for call in completion.calls] == list(turn.calls)
        assert completion.content == (turn.content or None)
        assert completion.reasoning == (turn.reasoning or None)

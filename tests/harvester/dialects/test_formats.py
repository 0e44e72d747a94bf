"""What the formats allow beyond the suite's recordings, and what is no call in them (GRAMMAR 9)."""

from typing import Any, NamedTuple

import pytest

from harvester.dialects import DIALECTS, Completion, Reader, parse

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "send",
            "parameters": {
                "properties": {
                    "to": {"type": "string"},
                    "count": {"type": "integer"},
                    "when": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                    "loud": {"enum": [True, False]},
                    "mode": {"const": "x"},
                    "rows": {"type": "array"},
                    "more": {"type": "object", "nullable": True},
                    "at": {"$ref": "#/$defs/place"},
                    "lost": {"$ref": "#/$defs/nowhere/at/all"},
                },
                "$defs": {"place": {"type": "integer"}},
            },
        },
    },
    {"name": "list"},
]


class Case(NamedTuple):
    dialect: str
    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    content: str | None = None
    reasoning: str | None = None
    prompt: str = ""
    truncated: bool = False


def call(name="list", **arguments):
    return (name, arguments)


HERMES = '<tool_call>\n{"name": "list", "arguments": {}}\n'
SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
CALLS, CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, SEP, CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
TURN = "<|start|>assistant"
K3 = '<|open|>tools<|sep|><|open|>call tool="send" index="1"<|sep|>'
K3_END = "<|close|>call<|sep|><|close|>tools<|sep|>"


def k3(key, kind, value):
    return f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'


def k2(call_id, arguments):
    return f"<|tool_call_begin|>{call_id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


def xml(*parameters):
    inside = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters)
    return f"<tool_call>\n<function=send>\n{inside}</function>\n</tool_call>"


def glm(**pairs):
    inside = "".join(
        f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in pairs.items()
    )
    return f"<tool_call>send{inside}</tool_call>"


RUNS = {
    # hermes
    "the closing tag may be missing at the end": Case("qwen3-hermes", HERMES, (call(),)),
    "the closing tag may be missing before the next call": Case(
        "qwen3-hermes", HERMES + HERMES + "</tool_call>", (call(), call())
    ),
    "arguments may be missing": Case("qwen3-hermes", '<tool_call>{"name": "list"}</tool_call>', (call(),)),
    "arguments may be JSON in a string": Case(
        "qwen3-hermes",
        '<tool_call>{"name": "send", "arguments": "{\\"to\\": 1}"}</tool_call>',
        (call("send", to=1),),
    ),
    "the OpenAI shape may stand in the tags": Case(
        "qwen3-hermes",
        '<tool_call>{"type": "function", "function": {"name": "list", "arguments": "{}"}}</tool_call>',
        (call(),),
    ),
    "text between calls is content": Case(
        "qwen3-hermes", f"a\n{HERMES}</tool_call>\nb\n{HERMES}</tool_call>\n", (call(), call()), "a\nb"
    ),
    "a drafted call in closed reasoning is no call": Case(
        "qwen3-hermes",
        f"<think>\nI write {HERMES}</tool_call> then\n</think>\n\n{HERMES}</tool_call>",
        (call(),),
        reasoning=f"I write {HERMES}</tool_call> then",
    ),
    "a mention in reasoning that never closes stays reasoning": Case(
        "qwen3-hermes", "use <tool_call> tags", reasoning="use <tool_call> tags", prompt="<think>\n"
    ),
    "two mentions and a call in reasoning that never closes": Case(
        "qwen3-hermes",
        f"use <tool_call> or <tool_call> tags\n{HERMES}</tool_call>",
        (call(),),
        reasoning="use <tool_call> or <tool_call> tags",
        prompt="<think>\n",
    ),
    "a stop token at the end is no text": Case("qwen3-hermes", "Hello<|im_end|>\n", content="Hello"),
    "a stop token in a text is text": Case(
        "qwen3-hermes", "An <|im_end|> ends.", content="An <|im_end|> ends."
    ),
    "half a marker at the end is text": Case("qwen3-hermes", "\n\nGo <tool", content="Go <tool"),
    "a mention in the content is content": Case(
        "qwen3-hermes", "Use <tool_call> and <think> so.", content="Use <tool_call> and <think> so."
    ),
    # qwen xml
    "values are typed by the schema": Case(
        "qwen3-xml",
        xml(
            ("to", "007"), ("count", "3"), ("when", "null"), ("loud", "True"), ("mode", "1"), ("rows", "[1]")
        ),
        (call("send", to="007", count=3, when=None, loud=True, mode="1", rows=[1]),),
    ),
    "a type may be a reference": Case(
        "qwen3-xml", xml(("at", "1"), ("lost", "1")), (call("send", at=1, lost="1"),)
    ),
    "a text that is no value of the type stays text": Case(
        "qwen3-xml",
        xml(("count", "three"), ("loud", "1"), ("more", "null"), ("rows", "{}"), ("free", "1")),
        (call("send", count="three", loud="1", more=None, rows="{}", free="1"),),
    ),
    "functions may share a tool_call": Case(
        "qwen3-xml",
        "<tool_call>\n<function=list>\n</function>\n<function=list>\n</function>\n</tool_call>",
        (call(), call()),
    ),
    "the closing tag of the function may be missing": Case(
        "qwen3-xml",
        "<tool_call>\n<function=send>\n<parameter=to>\nx\n</parameter>\n</tool_call>",
        (call("send", to="x"),),
    ),
    "the closing tag of the call may be missing at the end": Case(
        "qwen3-xml", "<tool_call>\n<function=list>\n</function>\n", (call(),)
    ),
    "a value in its line, closed at the line's end": Case(
        "qwen3-xml",
        "<tool_call>\n<function=send>\n<parameter=to>\nx</parameter>\n</function>\n</tool_call>",
        (call("send", to="x"),),
    ),
    "inline markup in a value is data": Case(
        "qwen3-xml",
        xml(("to", "see <parameter=to>1</parameter></function></tool_call> here")),
        (call("send", to="see <parameter=to>1</parameter></function></tool_call> here"),),
    ),
    "a parameter that the tool does not have is data": Case(
        "qwen3-xml", xml(("to", "a\n<parameter=nope>\nb")), (call("send", to="a\n<parameter=nope>\nb"),)
    ),
    "a far angle bracket ends no name": Case(
        "qwen3-xml",
        xml(("to", f"a\n<parameter={'x' * 300}>")),
        (call("send", to=f"a\n<parameter={'x' * 300}>"),),
    ),
    "the closing tag of a call with arguments may be missing at the end": Case(
        "qwen3-xml", xml(("to", "x")).removesuffix("\n</tool_call>"), (call("send", to="x"),)
    ),
    "a function without tags at the end of a line": Case(
        "qwen3-xml", "Go.\n<function=list>\n</function>\nDone.", (call(),), "Go.\nDone."
    ),
    # glm
    "JSON without a schema": Case("glm", glm(free="1", other="x"), (call("send", free=1, other="x"),)),
    "a value may lack its end before the next call": Case(
        "glm",
        "<tool_call>send<arg_key>to</arg_key><arg_value>x</tool_call>\n<tool_call>list</tool_call>",
        (call("send", to="x"), call()),
    ),
    # kimi
    "a call without its section": Case(
        "kimi",
        "a<|tool_call_begin|>functions.list:0<|tool_call_argument_begin|>{}<|tool_call_end|>b",
        (call(),),
        "ab",
    ),
    "a broken call leaves the next one of its section": Case(
        "kimi",
        SECTION + k2("functions.send:0", '{"to": "x"') + k2("functions.list:1", "{}") + SECTION_END,
        (call(),),
    ),
    "an id without an index is the name of a tool that was offered": Case(
        "kimi",
        SECTION + k2("functions.list", "{}") + k2("functions.no.0", "{}") + k2(" ", "{}") + SECTION_END,
        (call(),),
    ),
    "an id without a prefix": Case(
        "kimi",
        f"{SECTION}<|tool_call_begin|>list<|tool_call_argument_begin|>{{}}<|tool_call_end|>{SECTION_END}",
        (call(),),
    ),
    "K3 names the type of a value": Case(
        "kimi",
        K3 + k3("count", "number", "1.5") + k3("to", "string", "1") + K3_END,
        (call("send", count=1.5, to="1"),),
    ),
    # deepseek
    "R1 leaves the section's beginning out": Case(
        "deepseek", f"{CALL}function{SEP}list\n```json\n{{}}\n```{CALL_END}{CALLS_END}", (call(),)
    ),
    "a broken call leaves the next one of its section in V3.1": Case(
        "deepseek",
        f'{CALLS}{CALL}send{SEP}{{"to": "x"{CALL_END}{CALL}list{SEP}{{}}{CALL_END}{CALLS_END}',
        (call(),),
    ),
    "a fence may be missing": Case(
        "deepseek", f"{CALLS}{CALL}function{SEP}list\n{{}}{CALL_END}{CALLS_END}", (call(),)
    ),
    # mistral
    "name and arguments without a marker between": Case(
        "mistral", '[TOOL_CALLS]send{"to": "x"}', (call("send", to="x"),)
    ),
    "an id and no marker behind it": Case("mistral", "[TOOL_CALLS]list[CALL_ID]abc{}", (call(),)),
    "one object in place of the array": Case(
        "mistral", '[TOOL_CALLS]{"name": "list", "arguments": {}}', (call(),)
    ),
    "text behind the arguments": Case("mistral", "a[TOOL_CALLS]list[ARGS]{} b", (call(),), "a b"),
    # gemma
    "blanks in the notation mean nothing": Case(
        "gemma4",
        '<|tool_call>call:send{ to : <|"|>x<|"|> , rows:[ 1 , [ ] , {a:b c} ] }<tool_call|>',
        (call("send", to="x", rows=[1, [], {"a": "b c"}]),),
    ),
    "a call may end with the turn": Case("gemma4", "<|tool_call>call:list{}<turn|>", (call(),)),
    "a bare value is text": Case(
        "gemma4",
        "<|tool_call>call:send{to:12:30, count:-1}<tool_call|>",
        (call("send", to="12:30", count=-1),),
    ),
    "a blank behind a finished sentence parts it from the call": Case(
        "gemma4", "Now! <|tool_call>call:list{}<tool_call|>", (call(),), "Now!"
    ),
    # harmony
    "a prompt may have opened the message": Case(
        "gpt-oss", "hi<|return|>", content="hi", prompt=f"{TURN}<|channel|>final<|message|>"
    ),
    "plain text is content": Case("gpt-oss", "just text", content="just text"),
    "an end marker in a text is text": Case(
        "gpt-oss", "<|channel|>final<|message|>write <|end|> so<|end|>", content="write <|end|> so"
    ),
    "what stands between messages is nothing": Case(
        "gpt-oss",
        f"<|channel|>??<|end|>noise{TURN}<|channel|>final<|message|>ok<|end|> ",
        content="ok",
    ),
    "a message without an end": Case(
        "gpt-oss",
        f"<|channel|>analysis<|message|>a{TURN} to=functions.list<|channel|>commentary json<|message|>{{}}"
        f"{TURN}<|channel|>final<|message|>b",
        (call(),),
        "b",
        "a",
    ),
    "a tool that was offered needs no namespace": Case(
        "gpt-oss", "<|channel|>commentary to=send json<|message|>{}", (call("send"),)
    ),
    "the role may be left out of the next message": Case(
        "gpt-oss",
        "<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b",
        content="b",
        reasoning="a",
    ),
    "an unknown channel is for nobody": Case("gpt-oss", "<|channel|>odd<|message|>x<|end|>"),
    # llama
    "calls parted by a semicolon": Case(
        "llama",
        '{"name": "list", "parameters": {}}; {"name": "send", "parameters": {"to": "x"}}',
        (call(), call("send", to="x")),
    ),
    "a call on a line of its own": Case(
        "llama", 'Sure:\n{"name": "list", "parameters": {}} \nDone.', (call(),), "Sure:\n\nDone."
    ),
    "an array of calls": Case("llama", '[{"name": "list", "parameters": {}}]', (call(),)),
    "a tool behind the tag as Python": Case("llama", "<|python_tag|>[list()]", (call(),)),
    "the tag before code is no text": Case("llama", "<|python_tag|>print(1)", content="print(1)"),
    "a call in one line with text is text": Case(
        "llama",
        'It is\n{"name": "list", "parameters": {}} here',
        content='It is\n{"name": "list", "parameters": {}} here',
    ),
    "a call of a tool that was not offered is text": Case(
        "llama", '{"name": "other", "parameters": {}}', content='{"name": "other", "parameters": {}}'
    ),
    # pythonic
    "literals of every kind": Case(
        "pythonic",
        "[send(to='a\\'\\n\\x41\\u00e9\\101\\U0001F600', count=-1, when=1.5e3, loud=False, "
        "more={'a': [1, (2, None)], 'b': {}}, rows=[],)]",
        (
            call(
                "send",
                to="a'\nAéA😀",
                count=-1,
                when=1500.0,
                loud=False,
                more={"a": [1, [2, None]], "b": {}},
                rows=[],
            ),
        ),
    ),
    "strings in three quotes": Case(
        "pythonic",
        "[send(to='''a ' ] b''', mode=\"\"\"c \" ( d\"\"\"), list(),]",
        (call("send", to="a ' ] b", mode='c " ( d'), call()),
    ),
    "brackets in strings do not count": Case("pythonic", "[send(to='])')]", (call("send", to="])"),)),
    # openai
    "the message of the API": Case(
        "openai",
        '{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": '
        '{"name": "send", "arguments": "{\\"to\\": \\"x\\"}"}}]}',
        (call("send", to="x"),),
    ),
    "the array of the API, behind text": Case(
        "openai",
        'Ok.\n[{"type": "function", "function": {"name": "list", "arguments": {}}}]',
        (call(),),
        "Ok.\n",
    ),
    # anthropic
    "a block of invokes": Case(
        "anthropic",
        'Let me see.\n\n<function_calls>\n<invoke name="send">\n<parameter name="to">a < b</parameter>\n'
        '<parameter name="count">3</parameter>\n</invoke>\n<invoke name="list">\n</invoke>\n'
        "</function_calls>\n",
        (call("send", to="a < b", count=3), call()),
        "Let me see.",
    ),
    "an invoke without a block": Case(
        "anthropic",
        "<thinking>\nhm\n</thinking>\n<invoke name='list'/>",
        (call(),),
        reasoning="hm",
    ),
    "MiniMax's block": Case(
        "anthropic", '<minimax:tool_call>\n<invoke name="list">\n</invoke>\n</minimax:tool_call>', (call(),)
    ),
    # react
    "an action and its input": Case(
        "react",
        'Thought: I look.\nAction: send\nAction Input: {"to": "x"}\nObservation: ok',
        (call("send", to="x"),),
        "Thought: I look.\nObservation: ok",
    ),
    "an input in a fence": Case("react", "Action: `list`\nAction Input:\n```json\n{}\n```", (call(),)),
    "actions in prose are prose": Case(
        "react",
        "My Action: list\nAction: none of these\nAction:\n",
        content="My Action: list\nAction: none of these\nAction:\n",
    ),
    # function
    "a function with JSON": Case(
        "function", 'Ok <function=send>{"to": "x"}</function>', (call("send", to="x"),), "Ok"
    ),
    "a function with parameters": Case(
        "function", "<function=send><parameter=to>x</parameter></function>", (call("send", to="x"),)
    ),
}

RUNS_NOT = {
    "a call that was cut off though its JSON is whole": Case("qwen3-hermes", HERMES, truncated=True),
    "JSON with a trailing comma": Case("qwen3-hermes", '<tool_call>{"name": "list",}</tool_call>'),
    "a duplicate key": Case("qwen3-hermes", '<tool_call>{"name": "list", "name": "list"}</tool_call>'),
    "a key that means nothing": Case("qwen3-hermes", '<tool_call>{"name": "list", "x": 1}</tool_call>'),
    "two keys for arguments": Case(
        "qwen3-hermes", '<tool_call>{"name": "list", "arguments": {}, "parameters": {}}</tool_call>'
    ),
    "arguments that are no object": Case(
        "qwen3-hermes", '<tool_call>{"name": "list", "arguments": "x"}</tool_call>'
    ),
    "text behind the JSON": Case("qwen3-hermes", f"{HERMES}and</tool_call>"),
    "an object that is no call": Case("qwen3-hermes", '<tool_call>{"name": 1}</tool_call>'),
    "an array": Case("qwen3-hermes", "<tool_call>{[]}</tool_call>"),
    "a call over 64 KiB": Case(
        "qwen3-hermes",
        f'<tool_call>{{"name": "list", "arguments": {{"a": "{"x" * (1 << 16)}"}}}}</tool_call>',
    ),
    "what stands in a call that never ends": Case(
        "qwen3-xml", "<tool_call>\n<function=send>\n<parameter=to>\n</tool_call>\n" + xml(("to", "x"))[:-20]
    ),
    "a function twice the same parameter": Case("qwen3-xml", xml(("to", "x"), ("to", "y"))),
    "a function without a name": Case("qwen3-xml", "<tool_call><function=>\n</function></tool_call>"),
    "a value of DSML that is not the JSON it says": Case(
        "deepseek",
        '<｜DSML｜tool_calls><｜DSML｜invoke name="send"><｜DSML｜parameter name="count" string="false">x'
        "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
    ),
    "text in a function": Case("qwen3-xml", "<tool_call><function=list>text</function></tool_call>"),
    "text behind a function": Case("qwen3-xml", "<tool_call><function=list></function>text</tool_call>"),
    "an opener at the end": Case("qwen3-xml", "<tool_call>\n"),
    "a value without an end": Case("qwen3-xml", "<tool_call><function=send><parameter=to>x"),
    "a bare function without an end": Case("qwen3-xml", "<function=send>\n<parameter=to>\nx"),
    "an argument twice": Case(
        "glm", "<tool_call>send" + "<arg_key>to</arg_key><arg_value>x</arg_value>" * 2 + "</tool_call>"
    ),
    "a key without a value": Case("glm", "<tool_call>send<arg_key>to</arg_key></tool_call>"),
    "a value without an end in glm": Case("glm", "<tool_call>send<arg_key>to</arg_key><arg_value>x"),
    "a name that was cut off": Case("glm", "<tool_call>se"),
    "arguments that are an array": Case(
        "kimi",
        f"{SECTION}<|tool_call_begin|>list:0<|tool_call_argument_begin|>[]<|tool_call_end|>{SECTION_END}",
    ),
    "arguments that are none": Case(
        "kimi",
        f"{SECTION}<|tool_call_begin|>list:0<|tool_call_argument_begin|>x<|tool_call_end|>{SECTION_END}",
    ),
    "a call without a name": Case(
        "kimi",
        f"{SECTION}<|tool_call_begin|>:0<|tool_call_argument_begin|>{{}}<|tool_call_end|>{SECTION_END}",
    ),
    "a value of another type than it says": Case("kimi", K3 + k3("count", "number", "x") + K3_END),
    "a key twice": Case("kimi", K3 + k3("to", "string", "x") * 2 + K3_END),
    "a value that never ends": Case("kimi", K3 + k3("to", "string", "x")[:-30]),
    "a section that never ends": Case("deepseek", CALLS),
    "a section of K2 that never ends": Case("kimi", SECTION),
    "a broken call in a section that never ends": Case("kimi", SECTION + k2("functions.send:0", "{<")[:-17]),
    "a call that never begins": Case("deepseek", f"{CALLS}{CALL}"),
    "a call without arguments": Case("deepseek", f"{CALLS}{CALL}function{SEP}list\n{CALL_END}{CALLS_END}"),
    "an array with something else in it": Case("mistral", '[TOOL_CALLS][{"name": "list"}, 1]'),
    "a name that was cut off in mistral": Case("mistral", "[TOOL_CALLS]lis"),
    "an id that never ends": Case("mistral", "[TOOL_CALLS]list[CALL_ID]abc"),
    "notation with a hole": Case("gemma4", "<|tool_call>call:send{to:,count:1}<tool_call|>"),
    "notation with a key twice": Case("gemma4", "<|tool_call>call:send{to:1,to:2}<tool_call|>"),
    "notation without a key": Case("gemma4", "<|tool_call>call:send{1}<tool_call|>"),
    "notation without a comma": Case(
        "gemma4", '<|tool_call>call:send{rows:[<|"|>a<|"|><|"|>b<|"|>]}<tool_call|>'
    ),
    "notation that closes wrongly": Case("gemma4", "<|tool_call>call:send{rows:[1}]<tool_call|>"),
    "notation that is too deep": Case(
        "gemma4", f"<|tool_call>call:send{{a:{'[' * 70}{']' * 70}}}<tool_call|>"
    ),
    "a call in gemma without its end": Case("gemma4", "<|tool_call>call:list{} text"),
    "a marker in gemma at the end": Case("gemma4", "<|tool_call>ca"),
    "arguments with text behind them": Case(
        "gpt-oss", f"{TURN} to=functions.list<|channel|>commentary<|message|>{{}} x<|end|>"
    ),
    "arguments that never end": Case(
        "gpt-oss", f"{TURN} to=functions.list<|channel|>commentary<|message|>{{"
    ),
    "a tool of the model's own": Case("gpt-oss", f"{TURN} to=python<|channel|>analysis<|message|>1+1<|end|>"),
    "a tag that is too long": Case("anthropic", f'<invoke name="list" {"x" * 600}></invoke>'),
    "a parameter without a name": Case(
        "anthropic", '<invoke name="send"><parameter x="y">1</parameter></invoke>'
    ),
    "an invoke without a name": Case("anthropic", "<invoke x='y'></invoke>"),
    "a parameter that never ends": Case("anthropic", '<invoke name="send"><parameter name="to">x'),
    "a function whose JSON is broken": Case("function", "<function=send>{to: 1}</function>"),
    "a fence that never ends": Case("react", "Action: list\nAction Input:\n```json\n{}\n"),
}

STAYS_TEXT = (
    ("qwen3-hermes", "<tool_call>not JSON</tool_call>"),
    ("qwen3-xml", "<tool_call> or <function=list> in a line"),
    ("glm", "<tool_call>two words</tool_call>"),
    ("glm", f"<tool_call>{'x' * 300}</tool_call>"),
    ("mistral", "[TOOL_CALLS] not JSON at all"),
    ("gemma4", "<|tool_call>not a call"),
    ("llama", '{"a": 1} is a dict'),
    ("llama", '{"name": "list"}'),
    ("llama", '{"name": "list", "parameters": {}'),
    ("llama", '[{"name": "list", "parameters": {}}, 1]'),
    ("pythonic", "[1, 2] and [a](b)"),
    ("pythonic", "[list(1)]"),
    ("pythonic", "[list(a=b)]"),
    ("pythonic", "[send(to='x' count=1)]"),
    ("pythonic", "[send(to='x') list()]"),
    ("pythonic", "[send(to={1: 2})]"),
    ("pythonic", "[send(more={'a': 1, 'a': 2})]"),
    ("pythonic", "[send(more={'a'})]"),
    ("pythonic", "[send(rows=[1 2])]"),
    ("pythonic", "[send(rows=[1,,2])]"),
    ("pythonic", "[send(to='\\ud800')]"),
    ("pythonic", "[send(count=1e999)]"),
    ("pythonic", "[send(count=-)]"),
    ("pythonic", f"[send(rows={'[' * 70}{']' * 70})]"),
    ("pythonic", "[send(to='a', to='b')]"),
    ("pythonic", "[list]"),
    ("pythonic", "[list()](x)"),
    ("pythonic", "[1]"),
    ("openai", '{"tool_calls": 1}'),
    ("openai", '{"tool_calls": [], "content": "x"}'),
    ("openai", "{broken}"),
    ("openai", "[1]"),
)


def read(case: Case, pieces: list[str]) -> Completion:
    reader = Reader(case.dialect, tools=TOOLS, generation_prompt=case.prompt, truncated=case.truncated)
    return Completion.of([*(said for piece in pieces for said in reader.feed(piece)), *reader.close()])


def facts(completion: Completion):
    return (
        completion.content,
        completion.reasoning,
        [(found.name, found.arguments) for found in completion.calls],
    )


@pytest.mark.parametrize("case", RUNS.values(), ids=RUNS)
def test_the_format_is_read(case):
    assert facts(read(case, [case.text])) == (case.content, case.reasoning, list(case.calls))


@pytest.mark.parametrize("case", RUNS_NOT.values(), ids=RUNS_NOT)
def test_what_is_broken_or_cut_off_is_no_call_and_leaves_no_markup(case):
    assert facts(read(case, [case.text])) == (None, None, [])


@pytest.mark.parametrize(("dialect", "text"), STAYS_TEXT)
def test_what_begins_no_call_stays_in_the_content(dialect, text):
    assert facts(read(Case(dialect, text), [text])) == (text, None, [])


@pytest.mark.parametrize("case", [*RUNS.values(), *RUNS_NOT.values()], ids=[*RUNS, *RUNS_NOT])
def test_single_characters_read_as_the_whole(case):
    assert facts(read(case, list(case.text))) == facts(read(case, [case.text]))


def test_every_dialect_has_a_case():
    assert {case.dialect for case in RUNS.values()} == set(DIALECTS)


def test_spans_are_the_places_of_the_pieces():
    text = f"<think>\nhm\n</think>\n\nText.\n{HERMES}</tool_call>"
    pieces = parse(text, dialect="qwen3-hermes").pieces
    assert [text[slice(*piece.span)] for piece in pieces] == ["hm", "Text.", f"{HERMES}</tool_call>"]

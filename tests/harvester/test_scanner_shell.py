"""What is read as one command without a shell is what a shell makes of it (GRAMMAR 6, POSIX 2)."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import pytest

from harvester.scanner.shell import Command, read_command
from tests.harvester._asked import ops

PIECES = (
    "a", "b", "-d", "@-", " ", "  ", "\t", "\\\n", "'", '"', "\\", "\\\\", "$", "`", "\\$", "\\`",
    '\\"', "\\'", "#", "~", "=", "!", "{", "}", "*", "?", "[", "]", "|", "&", ";", "<", ">", "(", ")",
    "é", "\\n", "'a b'", '"a b"', '"\\$a"', '"\\a"', '"\\\n"', "''", '""', " <<'E'", '<<"E"', "\n",
    "\nE", "\nE\n", "\nb\nE\n", "\x0b",
)  # fmt: skip
# Prints its words and what comes in, so that they can be told apart.
SHELL = r"""curl() {
    printf '%s\0' "$#" "$@"
    while IFS= read -r line; do printf '%s\n' "$line"; done
    printf '\001'
}
"""


def commands() -> Iterator[tuple[str, Command]]:
    """Texts of chance that are read as a command, some hundreds."""
    chance = random.Random(6)
    for _ in range(20_000):
        text = "curl " + "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 7)))
        command = read_command(text, documents=True)
        if command is not None:
            yield text, command


def seen_by_a_shell(texts: list[str]) -> list[tuple[list[str], str]]:
    """Words and standard input of each command."""
    with TemporaryDirectory() as folder:
        run = subprocess.run(
            ["/bin/sh", "-c", SHELL + "\n".join(texts)],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
    assert run.stderr == b""
    seen = []
    for told in run.stdout.decode().split("\x01")[:-1]:
        count, *rest = told.split("\0")
        seen.append((rest[: int(count)], rest[int(count)]))
    return seen


def test_a_shell_takes_what_is_read_as_a_command_apart_in_the_same_way() -> None:
    read = list(commands())
    assert len(read) > 2000
    for (text, command), (words, document) in zip(
        read, seen_by_a_shell([text for text, _ in read]), strict=True
    ):
        assert [word.text for word in command.words[1:]] == words, text
        assert (command.document or "") == document.removesuffix("\n"), text


@pytest.mark.parametrize(
    "text",
    [
        "$a", '"$a"', "`a`", '"`a`"', "a*", "a?", "[a]", "{a,b}", "~", "#a", "a|b", "a&", "a;b", ">a",
        "<a", "(a)", "!a", "'a", '"a', "a\\", "a\nb", "a <<E\nE", "a <<'E'\nb", "a <<'E'\nE\nb",
        "a <<'E' <<'F'\nE\nF", "<<'E'x\nE",
    ],
)  # fmt: skip
def test_what_a_shell_would_still_have_to_do_is_no_command(text: str) -> None:
    assert read_command(f"curl {text}", documents=True) is None


def test_a_here_document_is_none_where_none_may_be() -> None:
    assert read_command("curl <<'E'\nE", documents=False) is None
    assert read_command("curl <<'E'\nE\n \t\n", documents=True) is not None


# ---- which commands are calls (GRAMMAR 6) ------------------------------------------------------------

BODY = """'{"op":"x"}'"""
URL = "https://localhost/exec"

CALLS = (
    f"curl {URL} -d {BODY}",
    f"$ curl {URL} -d {BODY}",
    f"curl -sSfkiv -XPOST {URL} -d{BODY}",
    f"curl -Hx {URL} -sHy -d {BODY}",
    f"curl --request POST --data={BODY} {URL}",
    f"curl --json {BODY} '{URL}' -H 'a: b' --max-time 5 --cacert a --cert b --key c",
    f"curl https://localhost:65535/exec --data-raw {BODY}",
    f"curl https://127.0.0.1/exec --data-binary {BODY}",
    f"curl 'https://[::1]:1/exec' -d {BODY}",
    f'curl {URL} -d "{{\\"op\\":\\"x\\"}}"',
    f'curl {URL} -d \'{{"op":\'"\\"x\\""\'}}\'',
    f"curl \\\n {URL} \\\n -d {BODY}",
)
NO_CALLS = (
    f"curl {URL}",
    f"curl -d {BODY}",
    f"curl {URL} {URL} -d {BODY}",
    f"curl {URL} -d {BODY} -d {BODY}",
    f"curl {URL} -d",
    f"curl -G {URL} -d {BODY}",
    f"curl {URL} -XGET -d {BODY}",
    f"curl {URL} -X PUT -d {BODY}",
    f"curl {URL} -o a -d {BODY}",
    f"curl {URL} --no-such -d {BODY}",
    f"curl {URL} --silent=1 -d {BODY}",
    f"curl {URL} -sz -d {BODY}",
    f"curl {URL} -H @a -d {BODY}",
    f"curl {URL} - -d {BODY}",
    f"curl {URL} -d {{}}",
    f"curl {URL} -d '@a'",
    f"curl {URL} -d '@-'",
    f"curl {URL} -d ''",
    f"curl {URL} -d '{{}}'",
    f"curl {URL} -d '[{BODY[1:-1]}]'",
    f"curl {URL} -d '{{\"op\":\"'x'\"}}'",
    f"curl {URL}/ -d {BODY}",
    f"curl {URL}?a -d {BODY}",
    f"curl {URL}#a -d {BODY}",
    f"curl a@{URL} -d {BODY}",
    f"curl http://localhost/exec -d {BODY}",
    f"curl https://localhost:/exec -d {BODY}",
    f"curl https://localhost:123456/exec -d {BODY}",
    f"curl https://localhost:٣/exec -d {BODY}",
    f"curl https://u@localhost/exec -d {BODY}",
    f"curl https://localhost.evil/exec -d {BODY}",
    f"curl https://xlocalhost/exec -d {BODY}",
    f"curl localhost/exec -d {BODY}",
    f"curl 'https://[::1]x/exec' -d {BODY}",
    f"curl HTTPS://localhost/exec -d {BODY}",
    f"$  curl {URL} -d {BODY}",
    f"$curl {URL} -d {BODY}",
    f"curls {URL} -d {BODY}",
    f"sudo curl {URL} -d {BODY}",
)


@pytest.mark.parametrize("text", CALLS)
def test_a_curl_of_ours_runs_in_a_line_and_in_a_fence(text: str) -> None:
    assert ops(text) == ["x"]
    assert ops(f"x\n{text}\n[TOOL y {{}}]") == ["x", "y"]
    for language in ("bash", "SH", "shell", "zsh", "console x"):
        assert ops(f"```{language}\n\n{text}\n \t\n```") == ["x"]


def test_a_fence_may_be_indented_and_its_here_document_with_it() -> None:
    body = f"curl {URL} -d @- <<'E'\n{BODY[1:-1]}\nE".replace("\n", "\n  ")
    assert ops(f"  ```sh\n  {body}\n  ```") == ops(f"- x\n  ```sh\n  {body}\n  ```") == ["x"]
    assert ops(f"```sh\n{body}\n```") == []


@pytest.mark.parametrize("text", NO_CALLS)
def test_any_other_curl_is_text(text: str) -> None:
    assert ops(text) == ops(f"```sh\n{text}\n```") == []


@pytest.mark.parametrize(
    "body",
    ["# a\n{}", "{}\n# a", "{}\n{}", "{}\nok", "a\n{}", "{} \\", "```", ""],
)
def test_a_fence_with_more_or_less_than_the_one_command_is_documentation(body: str) -> None:
    assert ops(f"````sh\n{body.format(*[CALLS[0]] * 2)}\n````") == []


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (f"curl {URL} -d @- <<'E'\n{BODY[1:-1]}\nE", True),
        (f'curl {URL} --data @- <<"a.b-c_1"\n{BODY[1:-1]}\na.b-c_1', True),
        (f"curl <<'E' {URL} -d @-\n{BODY[1:-1]}\nE\n\n", True),
        (f"curl {URL} -d @- <<'E'\n\n{BODY[1:-1]}\n\nE", True),
        (f"curl {URL} -d @- <<E\n{BODY[1:-1]}\nE", False),
        (f"curl {URL} -d @- <<'E'\n{BODY[1:-1]}\n E", False),
        (f"curl {URL} -d @- <<'E'\n{BODY[1:-1]}\nE\nx", False),
        (f"curl {URL} -d {BODY} <<'E'\nE", False),
        (f"curl {URL} --json @- <<'E'\n{BODY[1:-1]}\nE", False),
        (f"curl {URL} --data-raw @- <<'E'\n{BODY[1:-1]}\nE", False),
        (f"curl {URL} -d '@-' <<'E'\n{BODY[1:-1]}\nE", True),
    ],
)
def test_a_here_document_is_a_body_in_a_fence_only(text: str, *, runs: bool) -> None:
    assert ops(f"```sh\n{text}\n```") == ["x"] * runs
    assert ops(text) == []

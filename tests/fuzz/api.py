"""schemathesis over the whole API of a daemon, by its own description: `./box fuzz api [EXAMPLES]`.

Each endpoint gets valid and invalid data, made from `/openapi.json`; no answer may be a fault of ours, of a
status, type or shape that is not described, or good for bad data. Streams are left out: they never end. As an
operator, and as an agent that may do little; each with a daemon of its own: one may revoke tokens. What is
not described there, such as the web page, and what takes several requests, is for `./box fuzz http`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run isolated: the project's root is not on the path

from tests.exec_daemon.conftest import start  # noqa: E402

CHECKS: Final = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "negative_data_rejection,ignored_auth,unsupported_method"
)
# Bodies that are no JSON document, and answers without an end.
LEFT_OUT: Final = (
    "--exclude-path",
    "/rpc",
    "--exclude-path",
    "/mcp",
    "--exclude-path-regex",
    "stream|events",
)


def fuzz(daemon: Any, who: str, examples: str) -> int:
    """One run as `who`; its exit code."""
    daemon.agent("heron")
    print(f"\nas {who}", flush=True)
    program = Path(sys.executable).with_name("schemathesis")
    argv = [
        *(str(program), "run", f"{daemon.url}/openapi.json"),
        *(
            "--header",
            f"Authorization: Bearer {daemon.token(who)}",
            "--tls-verify",
            str(daemon.home / "ca.pem"),
        ),
        *(
            "--max-examples",
            examples,
            "--checks",
            CHECKS,
            *LEFT_OUT,
            "--request-timeout",
            "20",
            "--seed",
            "1",
        ),
        *("--suppress-health-check", "all"),
    ]
    return subprocess.run(argv, check=False, cwd=tempfile.gettempdir()).returncode


def main() -> int:
    """1 when anything was found."""
    examples = sys.argv[1] if len(sys.argv) > 1 else "50"
    codes = []
    for who in ("operator", "agent/heron"):
        with tempfile.TemporaryDirectory() as home:
            daemon = start(Path(home) / "home")
            try:
                codes.append(fuzz(daemon, who, examples))
            finally:
                daemon.stop()
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())

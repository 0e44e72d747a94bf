"""What runs a program without us: the floor in C, NRPE, and SSH with a forced command over a kept connection.

Each gives the time of one run of `true`, in milliseconds, as the function that runs it once; None where it
is not installed. NRPE is asked by a client of our own, which flatters it: its own is a program that starts.
"""

from __future__ import annotations

import getpass
import os
import platform
import shutil
import socket
import ssl
import struct
import subprocess
import time
import zlib
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

TRUE: Final = "/bin/true"
Run = Callable[[], None]

# So many processes, each of which starts one program after the other; the milliseconds of each as a double.
_FLOOR: Final = r"""
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
static double took[1 << 20];
static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static int run_until(double until, char *program) {
  char *words[] = {program, 0};
  size_t runs = 0;
  for (double began = now_ms(), ended; began < until; began = ended) {
    pid_t pid;
    if (posix_spawn(&pid, program, 0, 0, words, environ) || waitpid(pid, 0, 0) != pid) return 1;
    ended = now_ms();
    took[runs++] = ended - began;
  }
  for (size_t i = 0; i < runs; i++)
    if (write(1, took + i, sizeof *took) != sizeof *took) return 1;
  return 0;
}
int main(int argc, char **argv) {
  double until = now_ms() + atof(argv[3]) * 1e3;
  for (int i = atoi(argv[2]); i > 0; i--)
    if (!fork()) _exit(run_until(until, argv[1]));
  int status, failed = 0;
  while (wait(&status) > 0) failed |= status;
  return failed != 0;
}
"""


# It ends before a C library could begin: that asks for CPUID first, and each time leaves a virtual machine.
_BARE: Final = """
void _start(void) {
#ifdef __x86_64__
  __asm__("mov $60, %eax; xor %edi, %edi; syscall");
#else
  __asm__("mov x8, 93; mov x0, 0; svc 0");
#endif
}
"""


def floor_ms(folder: Path, at_once: int, seconds: float, program: str = TRUE) -> list[float]:
    """`posix_spawn` and `waitpid` in C, from so many processes: how long each run took, in order of length.

    Where there is no compiler, the same from one process through Python, and none at once.
    """
    if shutil.which("cc") is None:
        return sorted(_timed(_spawn) for _ in range(300)) if at_once == 1 else []
    words = [_compiled(folder / "floor", _FLOOR), program, str(at_once), str(seconds)]
    return sorted(array("d", subprocess.run(words, capture_output=True, check=True).stdout))


def bare_program(folder: Path) -> str | None:
    """A program without a C library; None where it cannot be made."""
    can = shutil.which("cc") is not None and platform.machine() in ("x86_64", "aarch64")
    return _compiled(folder / "bare", _BARE, "-static", "-nostdlib") if can else None


def _compiled(program: Path, source: str, *options: str) -> str:
    if not program.exists():
        file = program.with_suffix(".c")
        file.write_text(source)
        subprocess.run(["cc", "-O2", *options, "-o", program, file], check=True)
    return str(program)


def _spawn() -> None:
    os.waitpid(os.posix_spawn(TRUE, [TRUE], {}), 0)


def _timed(run: Run) -> float:
    began_s = time.perf_counter()
    run()
    return (time.perf_counter() - began_s) * 1000


def times_ms(run: Run, count: int) -> list[float]:
    """How long each run took, in order of length."""
    run()
    return sorted(_timed(run) for _ in range(count))


def free_port() -> int:
    """One that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(true: Callable[[], bool], what: str, at_most_s: float = 30.0) -> None:
    """Until the condition holds; AssertionError names it."""
    until_s = time.monotonic() + at_most_s
    while not true():
        assert time.monotonic() < until_s, f"waited {at_most_s:.0f} s for {what}"
        time.sleep(0.05)


def wait_for(port: int) -> None:
    """Until somebody listens there."""
    wait_until(lambda: _listens(port), f"somebody to listen on port {port}")


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def _process(*words: str) -> Iterator[None]:
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


# Protocol version 2: version, type, CRC, result, text, padding. It takes one query a connection.
_PACKET: Final = struct.Struct("!HHIH1024s2x")


def _ask_nrpe(port: int, context: ssl.SSLContext | None) -> None:
    without_crc = _PACKET.pack(2, 1, 0, 0, b"true")
    query = _PACKET.pack(2, 1, zlib.crc32(without_crc), 0, b"true")
    plain = socket.create_connection(("127.0.0.1", port), 10)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with plain if context is None else context.wrap_socket(plain) as connection:
        connection.sendall(query)
        answer = b""
        while len(answer) < _PACKET.size and (piece := connection.recv(_PACKET.size)):
            answer += piece
    # `true` says nothing, which NRPE holds against it; it has run all the same.
    assert b"Unable to read output" in answer or _PACKET.unpack(answer)[3] == 0, answer[:64]


@contextmanager
def nrpe(folder: Path, context: ssl.SSLContext | None = None) -> Iterator[Run | None]:
    """`nagios-nrpe-server`, one connection a call, which is all that it can do.

    With a `context` by TLS, with the certificate `server.pem` and `server.key` of `folder`.
    """
    program = shutil.which("nrpe", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        yield None
        return
    port = free_port()
    settings = folder / f"nrpe-{port}.cfg"
    # It runs as anybody but root.
    user, group = ("nobody", "nogroup") if os.getuid() == 0 else (getpass.getuser(), str(os.getgid()))
    settings.write_text(
        f"server_port={port}\nserver_address=127.0.0.1\nallowed_hosts=127.0.0.1\nnrpe_user={user}\n"
        f"nrpe_group={group}\npid_file={folder}/nrpe-{port}.pid\ncommand[true]={TRUE}\n"
        f"ssl_cert_file={folder}/server.pem\nssl_privatekey_file={folder}/server.key\nssl_version=TLSv1.2+\n"
    )
    with _process(program, *(["-n"] if context is None else []), "-c", str(settings), "-f"):
        wait_for(port)
        yield lambda: _ask_nrpe(port, context)


def _key(file: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    return file


@contextmanager
def ssh(folder: Path) -> Iterator[Run | None]:
    """OpenSSH with a forced command; the connection is kept by ControlMaster."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None or shutil.which("ssh") is None:
        yield None
        return
    port, host, mine = free_port(), _key(folder / "host"), _key(folder / "mine")
    allowed = folder / "authorized"
    allowed.write_text(f'command="{TRUE}",no-pty {mine.with_suffix(".pub").read_text()}')
    settings = folder / "sshd_config"
    settings.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nAuthorizedKeysFile {allowed}\nUsePAM no\n"
        f"StrictModes no\nPidFile {folder}/sshd.pid\nPermitRootLogin yes\nPasswordAuthentication no\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    common = ("-F", "none", "-o", f"ControlPath={folder}/master", "-p", str(port), "127.0.0.1")
    asked = ("-i", str(mine), "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known")
    with _process(program, "-D", "-f", str(settings)):
        wait_for(port)
        subprocess.run(["ssh", "-M", "-N", "-f", *asked, *common], check=True)
        try:
            yield lambda: _run(["ssh", *common, "x"])
        finally:
            subprocess.run(["ssh", "-O", "exit", *common], check=False, capture_output=True)


def _run(words: list[str]) -> None:
    subprocess.run(words, check=True, capture_output=True)

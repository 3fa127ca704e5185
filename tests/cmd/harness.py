# SPDX-License-Identifier: MIT
"""Meets the command as a user does: in a folder of trees of its own, through pipes or a terminal.

A test is a function whose name is its promise; main() runs all that a script has.
"""

import fcntl
import functools
import inspect
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.environ["UMEMCG_SOURCE"], "tests"))
import promises

BUILD = os.environ["UMEMCG_BUILD"]
UMEMCG = os.path.join(BUILD, "umemcg")
PRELOAD = os.path.join(BUILD, "libumemcg-preload.so")
# Only of use in a build that has it.
HOLDER = os.path.join(BUILD, "tests", "cmd", "tree-holder")
PATIENCE_S = 30

environment = {name: value for name, value in os.environ.items()
               if not name.startswith("UMEMCG_") or name == "UMEMCG_CMDLINE"}
environment["LC_ALL"] = "C.UTF-8"
# A folder for trees alone: what a promise leaves in it is seen.
trees = tempfile.mkdtemp(prefix="umemcg-test.", dir="/dev/shm")
environment["XDG_RUNTIME_DIR"] = trees


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __repr__(self):
        return f"status {self.status}\n--- out\n{self.out}--- err\n{self.err}"


def umemcg(*words, **options):
    """Runs the command to its end."""
    done = subprocess.run([UMEMCG, *words], text=True, errors="surrogateescape",
                          capture_output=True, timeout=PATIENCE_S,
                          stdin=options.pop("stdin", subprocess.DEVNULL)
                          if "input" not in options else None,
                          env=options.pop("env", environment), **options)
    return Result(done.returncode, done.stdout, done.stderr)


def start(*words, **options):
    """Starts the command; its standard input is a pipe that keeps it, output is a pipe."""
    return subprocess.Popen([UMEMCG, *words], text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=options.pop("env", environment), **options)


def expect(condition, *seen):
    if not condition:
        raise AssertionError("\n".join(str(one) for one in seen))


def expect_refused(result, status, *texts):
    """One line on standard error that says so; nothing on standard output."""
    expect(result.status == status, f"expected status {status}", result)
    expect(result.out == "", "expected nothing on standard output", result)
    expect(result.err.count("\n") == 1, "expected one line on standard error", result)
    for text in texts:
        expect(text in result.err, f"expected: {text}", result)


def wait_until(holds, what):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError(f"never happened: {what}")


def has_ended(pid):
    """Also if whoever has adopted it does not collect it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def trees_left():
    return sorted(os.listdir(trees))


class Holder:
    """A tree in a known state: made, filled and kept by a program of the tests."""

    def __init__(self, name="default"):
        self.program = subprocess.Popen([HOLDER, name], text=True,
                                        errors="surrogateescape", stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment)
        self.name = name
        self.pid = self.program.pid
        expect(self.program.stdout.readline() == "0\n", "the tree could not be made")

    def ask(self, request):
        self.program.stdin.write(request + "\n")
        self.program.stdin.flush()
        return int(self.program.stdout.readline())

    def make(self, *paths):
        for path in paths:
            expect(self.ask("create " + path) == 0, path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.stdin.close()
        self.program.wait(PATIENCE_S)
        self.program.stdout.close()
        expect(umemcg("rm", "--tree", self.name, "/").status in (0, 2))


class Living:
    """A program that waits in a group, as a user's server would, until it is told to end."""

    def __init__(self, *options, env=None):
        self.run = start("run", *options, "--", "sh", "-c", "echo $$; read line",
                         env=env or environment)
        self.pid = int(self.run.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run.stdin.close()
        self.run.wait(PATIENCE_S)
        self.err = self.run.stderr.read()
        self.run.stdout.close()
        self.run.stderr.close()


class Terminal:
    """A program whose controlling terminal is a pseudo-terminal."""

    def __init__(self, *words, rows=24, columns=80):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execvpe(words[0], words, environment | {"TERM": "dumb", "PS1": "prompt$ "})
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern):
        """Waits for a text, and leaves what comes after it."""
        end = time.monotonic() + PATIENCE_S
        while True:
            match = re.search(pattern, self.text)
            if match:
                self.text = self.text[match.end():]
                return match
            left = end - time.monotonic()
            ready = select.select([self.fd], [], [], max(0, left))[0] if left > 0 else []
            try:
                data = os.read(self.fd, 4096) if ready else b""
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"never seen: {pattern}\n--- seen\n{self.text}")
            self.text += data.decode(errors="replace")

    def close(self):
        """The program's status, as of wait()."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return status
            if select.select([self.fd], [], [], 0.01)[0]:
                try:
                    self.text += os.read(self.fd, 4096).decode(errors="replace")
                except OSError:
                    time.sleep(0.01)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        raise AssertionError(f"did not end\n--- seen\n{self.text}")


def skip(reason):
    shutil.rmtree(trees, ignore_errors=True)
    print(reason)
    sys.exit(77)


def leaving_nothing(test):
    """The promise, and that no tree is left."""
    @functools.wraps(test)
    def whole():
        try:
            test()
            expect(not trees_left(), "left behind:", trees_left())
        finally:
            for name in trees_left():
                os.unlink(os.path.join(trees, name))
    return whole


def main(names):
    """Tests the promises among a script's names: its functions without parameters."""
    tests = [leaving_nothing(value) for value in names.values()
             if inspect.isfunction(value) and value.__module__ == "__main__"
             and not inspect.signature(value).parameters]
    if not umemcg("complete", "files").out:
        skip("this build has no controller")
    # Whoever loses patience with the test gets the trees removed, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        sys.exit(promises.keep(tests))
    finally:
        shutil.rmtree(trees, ignore_errors=True)

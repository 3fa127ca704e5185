# SPDX-License-Identifier: MIT
"""A session on the server: psql at the other end of two pipes."""

import os
import selectors
import subprocess
import time

ANSWER_TIMEOUT_S = 120
END = "-- end of the answer --"


class Lost(Exception):
    """The session is over: what psql said last."""


class Session:
    def __init__(self, server):
        self.psql = subprocess.Popen(["psql", "-XAtq"], env=server.environment(),
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, bufsize=0)
        try:
            self.ask("select 1")
        except Lost:
            self.close()
            raise

    def ask(self, statement):
        """Result of a statement, or the server's complaint."""
        try:
            self.psql.stdin.write(("%s;\n\\echo %s\n" % (statement, END)).encode())
        except BrokenPipeError:
            pass
        text = self._read()
        answer, ended, _ = text.partition(END)
        # psql that reads a pipe does not go on without its server; it says so and ends, or, where
        # it could connect again, it would be another session.
        if not ended or "server closed the connection" in answer or "connection to server" in answer:
            raise Lost(answer.strip())
        return answer.strip()

    def _read(self):
        text, end_s = b"", time.monotonic() + ANSWER_TIMEOUT_S
        with selectors.DefaultSelector() as selector:
            selector.register(self.psql.stdout, selectors.EVENT_READ)
            while END.encode() + b"\n" not in text:
                if not selector.select(end_s - time.monotonic()):
                    raise RuntimeError("no answer in %d s; so far: %r" % (ANSWER_TIMEOUT_S, text))
                chunk = os.read(self.psql.stdout.fileno(), 65536)
                if not chunk:
                    break
                text += chunk
        return text.decode(errors="replace")

    def close(self):
        self.psql.stdin.close()
        try:
            self.psql.wait(10)
        except subprocess.TimeoutExpired:
            self.psql.kill()
            self.psql.wait()
        self.psql.stdout.close()

# SPDX-License-Identifier: MIT
"""The programs whose time is taken: each a function that runs one in a state and returns
seconds, passed ("time") and used ("cpu")."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 120
NR_STARTS = 200
PYTHON = """
import json
rows = [{'number': i, 'text': str(i) * 5, 'parts': list(range(i % 20))} for i in range(30000)]
for _ in range(3):
    text = json.dumps(rows)
    rows = json.loads(text)
    rows.sort(key=lambda row: row['text'])
    words = {}
    for row in rows: words.setdefault(row['text'][:3], []).append(row['number'])
"""
SQLITE = """
create table t(a integer primary key, b text, c blob);
insert into t select value, hex(randomblob(20)), randomblob(60) from
    (with recursive n(value) as (select 1 union all select value + 1 from n where value < 100000)
     select value from n);
create index i on t(b);
select count(*) from (select distinct substr(b, 1, 4) from t order by b);
update t set b = b || 'x' where a % 3 = 0;
delete from t where a % 2 = 0;
"""
STARTS = "i=%d; while [ $i -gt 0 ]; do /bin/true; i=$((i - 1)); done" % NR_STARTS


def spent(process, begin_s):
    """Waits for the end; seconds passed, and used by it and all that it has waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"time": time.monotonic() - begin_s, "cpu": usage.ru_utime + usage.ru_stime}


def run(state, *command, stdin="", environment=None):
    """What a command takes, from its start to its end."""
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as err:
        given.write(stdin)
        given.seek(0)
        begin_s = time.monotonic()
        process = subprocess.Popen([*state.prefix, *command], stdin=given, stderr=err,
                                   stdout=subprocess.DEVNULL,
                                   env=dict(state.environment, **(environment or {})))
        took = spent(process, begin_s)
        if process.returncode != 0:
            err.seek(0)
            raise RuntimeError("%s: exit status %d\n%s" % (" ".join(command)[:100],
                                                          process.returncode, err.read()))
    return took


def functions(number):
    """A C file that keeps an optimising compiler busy for a second or so."""
    for i in range(number):
        yield ("int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) { if (a[i] > s) "
               "s += a[i] * %d; else s ^= a[(i * 7) %% n]; switch (s & 7) { case 0: s++; break; "
               "case 3: s -= a[0]; break; default: s *= 3; } } return s; }\n" % (i, i, i + 1))


class Redis:
    """A server in the state, the load from outside. What is timed is the load; what the server uses
    is counted from its start to its end."""

    def __init__(self, folder):
        self.folder = folder
        self.server = os.path.join(folder, "redis-server")
        # The same program under another name, which it looks at.
        os.symlink(shutil.which("redis-check-rdb"), self.server)
        self.socket = os.path.join(folder, "redis.socket")

    def client(self, program, *arguments):
        return subprocess.run([program, "-s", self.socket, *arguments], capture_output=True,
                              text=True, timeout=TIMEOUT_S)

    def __call__(self, state):
        start_s = time.monotonic()
        process = subprocess.Popen(
            [*state.prefix, self.server, "--port", "0", "--unixsocket", self.socket, "--save", "",
             "--dir", self.folder], env=state.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end_s = time.monotonic() + TIMEOUT_S
            while self.client("redis-cli", "ping").stdout.strip() != "PONG":
                if process.poll() is not None or time.monotonic() > end_s:
                    raise RuntimeError("redis-server does not answer")
                time.sleep(0.02)
            begin_s = time.monotonic()
            done = self.client("redis-benchmark", "-t", "set,get,lpush,hset", "-n", "40000", "-r",
                               "100000", "-d", "200", "-P", "8", "-q")
            seconds = time.monotonic() - begin_s
            if done.returncode != 0:
                raise RuntimeError("redis-benchmark: " + done.stderr)
            self.client("redis-cli", "shutdown", "nosave")
            took = dict(spent(process, start_s), time=seconds)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        return took


def usable(folder):
    """Name to function, and why others are missing."""
    source = os.path.join(folder, "functions.c")
    with open(source, "w", encoding="ascii") as file:
        file.writelines(functions(120))
    python = sys.executable
    found = {
        "python3": lambda state: run(state, python, "-c", PYTHON),
        # Without the interpreter's own heap on top of malloc.
        "python3, malloc": lambda state: run(state, python, "-c", PYTHON,
                                             environment={"PYTHONMALLOC": "malloc"}),
        "start": lambda state: run(state, "/bin/sh", "-c", STARTS),
        "run": lambda state: run(state, "/bin/true"),
    }
    missing = []
    for name, needed, package, function in (
            ("sqlite3", "sqlite3", "sqlite3",
             lambda state: run(state, "sqlite3", "-batch", ":memory:", stdin=SQLITE)),
            ("gcc", "gcc", "build-essential",
             lambda state: run(state, "gcc", "-O2", "-c", source, "-o", source + ".o")),
            ("redis", "redis-check-rdb", "redis-tools", None)):
        if not shutil.which(needed):
            missing.append("%s: %s is not installed (package %s)" % (name, needed, package))
        else:
            found[name] = function or Redis(folder)
    return found, missing

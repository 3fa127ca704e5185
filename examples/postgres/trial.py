# SPDX-License-Identifier: MIT
"""One server under one limit, for some rounds of runaway queries: what becomes of everybody."""

import collections
import concurrent.futures
import dataclasses
import re
import sys
import time

from cluster import Ended
from resident import Witness
from session import Lost, Session
from writer import Writer

# Each would take gigabytes. The first grows by large arrays, the others ask in small blocks.
HOGS = {
    "array_agg":
        "select count(*) from (select array_agg(g::text || repeat('x', 100))"
        " from generate_series(1, 8000000) g) s",
    "hash aggregate":
        "set enable_sort = off; select count(*) from (select g::text || repeat('x', 50)"
        " from (select generate_series(1, 40000000) g) r group by 1) s",
    "append in PL/pgSQL":
        "do $$ declare a text[] := '{}'; begin for i in 1..8000000 loop"
        " a := a || repeat('x', 500); end loop; end $$",
}
FOUR = "four at once"
QUERIES = [*HOGS, FOUR]
LOGGED = (r"was terminated by signal", r"all server processes terminated", r"PANIC", r"FATAL",
          r"could not fork")
# Who asks a server whether it is ready yet is told so, and that is no fault.
NOT_YET = r"FATAL: +the database system is (?:starting up|not yet accepting connections)"
LOST = "connection lost"
RESTART_TIMEOUT_S = 30


@dataclasses.dataclass
class Result:
    title: str
    nr_rounds: int
    # Of each hog, how it ended: words to times.
    ends: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(
        collections.Counter))
    nr_idle_lost: int = 0
    nr_hog_sessions_lost: int = 0
    nr_next_refused: int = 0
    nr_restarts: int = 0
    # Of the server as a whole, so that it had to be started by hand.
    nr_deaths: int = 0
    nr_commits: int = 0
    nr_writes_refused: int = 0
    nr_writer_lost: int = 0
    writer_complaint: str = ""
    severities: dict = dataclasses.field(default_factory=dict)
    nr_not_forked: int = 0
    nr_vacuums: int = 0
    nr_checkpoints: int = 0
    peak: int | None = None
    peak_resident: int = 0
    peak_resident_seen: int = 0
    limit_bytes: int = 0
    seconds: float = 0
    said: list = dataclasses.field(default_factory=list)


def server_start(session):
    """When the processes of the server were started; the postmaster itself outlives a restart."""
    return session.ask("select backend_start from pg_stat_activity"
                       " where backend_type = 'checkpointer'")


def how_it_ended(session, statement):
    try:
        answer = session.ask(statement)
    except Lost as lost:
        return LOST, str(lost)
    found = re.search(r"ERROR: +(out of memory)", answer)
    return (found.group(1) if found else answer[:40] or "it fitted"), answer


class Trial:
    def __init__(self, server, limit, result):
        self.server, self.limit, self.result = server, limit, result
        self.witness = None
        self.start()
        self.idle = self._idle()
        self.started = server_start(self.idle)

    def start(self):
        self.limit.start(self.server)
        self.witness = Witness(self.server.process.pid)
        self.witness.start()

    def opened(self):
        """A session, as soon as the server lets somebody in."""
        while True:
            try:
                self.server.await_ready()
                return Session(self.server)
            except Ended:
                # Nothing brings a server back that was killed as a whole.
                self.result.nr_deaths += 1
                self.end_witness()
                self.start()
            except Lost:
                continue

    def end_witness(self):
        self.witness.end()
        result = self.result
        result.peak_resident = max(result.peak_resident, self.witness.peak)
        result.peak_resident_seen = max(result.peak_resident_seen, self.witness.peak_seen)

    def _idle(self):
        session = self.opened()
        session.ask("create temporary table mine as select 'still here' as text")
        return session

    def hog(self, name):
        result = self.result
        session = self.opened()
        end, said = how_it_ended(session, HOGS[name])
        result.ends[name][end] += 1
        if end == LOST:
            self.await_restart()
        if not result.said:
            result.said.append("runaway: " + said)
        self.next_query(session)

    def four_hogs(self):
        """Each alone would fit at most a quarter as far; what holds them is a limit of their sum."""
        sessions = [self.opened() for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(len(sessions)) as pool:
            ends = [end for end, _ in pool.map(
                lambda session: how_it_ended(session, HOGS["array_agg"]), sessions)]
        self.result.ends[FOUR].update(ends)
        if LOST in ends:
            self.await_restart()
        for session in sessions:
            self.next_query(session)

    def next_query(self, session):
        """The session of a query that failed is as good as before."""
        try:
            if session.ask("select 6 * 7") != "42":
                self.result.nr_next_refused += 1
        except Lost:
            self.result.nr_hog_sessions_lost += 1
        session.close()

    def await_restart(self):
        """A backend that died takes all others along, but not at once."""
        end_s = time.monotonic() + RESTART_TIMEOUT_S
        while time.monotonic() < end_s:
            try:
                session = self.opened()
                try:
                    started = server_start(session)
                finally:
                    session.close()
            except Lost:
                continue
            if started and started != self.started:
                return

    def look_after(self):
        """What the others have noticed."""
        result = self.result
        try:
            alive = self.idle.ask("select text from mine") == "still here"
        except Lost as lost:
            alive = False
            if not result.nr_idle_lost:
                result.said.append("idle session: " + str(lost))
        if not alive:
            result.nr_idle_lost += 1
            self.idle.close()
            self.idle = self._idle()
        fresh = self.opened()
        if fresh.ask("checkpoint") != "":
            result.nr_next_refused += 1
        started = server_start(fresh)
        fresh.close()
        if started != self.started:
            result.nr_restarts += 1
            self.started = started


def read_log(log, result):
    log = re.sub(r"^.*%s.*\n?" % NOT_YET, "", log, flags=re.MULTILINE)
    result.severities = {word: len(re.findall(r": %s: " % word, log))
                         for word in ("PANIC", "FATAL")}
    result.nr_not_forked = len(re.findall(r"could not fork", log))
    result.nr_checkpoints = len(re.findall(r"checkpoint complete", log))
    result.nr_vacuums = len(re.findall(r"automatic (?:vacuum|analyze) of", log))
    for words in LOGGED:
        line = re.search(r"^.*%s.*$" % words, log, re.MULTILINE)
        if line:
            result.said.append("log: " + line.group(0))


def run(server, limit, nr_rounds):
    result = Result(limit.title, nr_rounds, limit_bytes=limit.size)
    begin_s = time.monotonic()
    server.forget_log()
    trial = None
    try:
        trial = Trial(server, limit, result)
        writer = Writer(server)
        writer.start()
        for number in range(nr_rounds):
            for name in QUERIES:
                if sys.stderr.isatty():
                    print("\r\033[K%s: round %d, %s" % (limit.title, number + 1, name), end="",
                          file=sys.stderr, flush=True)
                if name == FOUR:
                    trial.four_hogs()
                else:
                    trial.hog(name)
                trial.look_after()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        # Whoever is thrown out by the end of all this is not counted.
        read_log(server.logged(), result)
        writer.end()
        result.nr_commits, result.nr_writes_refused = writer.nr_commits, writer.nr_refused
        result.nr_writer_lost, result.writer_complaint = writer.nr_lost, writer.complaint
        trial.idle.close()
    finally:
        if trial:
            trial.end_witness()
        server.stop()
    result.peak = limit.peak()
    result.seconds = time.monotonic() - begin_s
    return result

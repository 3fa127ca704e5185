# SPDX-License-Identifier: MIT
"""A PostgreSQL server of its own in a temporary directory, on a socket there, and sessions on it.
PostgreSQL refuses to be root, so root lends it another user."""

import glob
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time

READY_TIMEOUT_S = 60
# All that must be so for the queries to run away, for the background to be busy, and for the rounds
# to be short. What is lost in a power failure does not matter here, so fsync is off.
SETTINGS = """
listen_addresses = ''
shared_buffers = 32MB
work_mem = 4GB
max_connections = 20
jit = off
max_parallel_workers_per_gather = 0
fsync = off
checkpoint_timeout = 30s
max_wal_size = 64MB
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 50
autovacuum_analyze_threshold = 50
log_checkpoints = on
log_autovacuum_min_duration = 0
log_line_prefix = '%b %p: '
lc_messages = 'C'
"""


class Ended(Exception):
    """The server itself has ended: the end of its log."""


class Missing(Exception):
    """Why there can be no server here."""


def server_user():
    """Whom the server runs as: ourselves, or somebody without privilege if we are root."""
    if os.getuid() != 0:
        return None
    for name in "postgres", "nobody":
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Missing("no user postgres or nobody to run PostgreSQL as")


class Cluster:
    """Initialised once; started under one limit after another."""

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"),
                       key=lambda path: int(re.findall(r"\d+", path)[-1]))
        if not found or not shutil.which("psql"):
            raise Missing("PostgreSQL is not installed (packages postgresql, postgresql-client)")
        self.programs = os.path.dirname(found[-1])
        self.user = server_user()
        self.folder = tempfile.mkdtemp(prefix="umemcg-postgres-")
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "log")
        self.process = None
        try:
            if self.user:
                os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
            self.version = self._initialise()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        if os.path.exists(os.path.join(self.data, "postmaster.pid")):
            # It was killed, and only its successor removes what it left in /dev/shm.
            self.start()
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def as_user(self):
        """The beginning of a command that runs as the server's user."""
        if not self.user:
            return []
        return ["setpriv", "--reuid=%d" % self.user.pw_uid, "--regid=%d" % self.user.pw_gid,
                "--clear-groups", "--"]

    def environment(self):
        values = {name: value for name, value in os.environ.items()
                  if not name.startswith(("PG", "LC_", "LANG"))}
        values.update(HOME=self.folder, PGHOST=self.folder, PGUSER="demo", PGDATABASE="postgres",
                      LC_ALL="C.UTF-8")
        return values

    def _initialise(self):
        run = subprocess.run([*self.as_user(), os.path.join(self.programs, "initdb"), "-D",
                              self.data, "-A", "trust", "-U", "demo", "-E", "UTF8", "-N"],
                             cwd=self.folder, env=self.environment(), capture_output=True, text=True)
        if run.returncode != 0:
            raise RuntimeError("initdb: exit status %d\n%s" % (run.returncode, run.stderr))
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="ascii") as file:
            file.write(SETTINGS + "unix_socket_directories = '%s'\n" % self.folder)
        version = subprocess.run([os.path.join(self.programs, "postgres"), "--version"],
                                 capture_output=True, text=True, check=True).stdout
        return re.search(r"[\d.]+", version).group(0)

    def start(self, prefix=(), environment=None, before=None):
        """Starts the server behind @prefix; @before is called in the child, still privileged."""
        self.await_orphans()
        command = [*self.as_user(), *prefix, os.path.join(self.programs, "postgres"), "-D",
                   self.data]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, preexec_fn=before,
                                            env=dict(self.environment(), **(environment or {})))
        self.await_ready()

    def await_orphans(self):
        """Processes of a server that was killed end by themselves, and the next one waits for it."""
        end_s = time.monotonic() + READY_TIMEOUT_S
        while self._orphans() and time.monotonic() < end_s:
            time.sleep(0.05)

    def _orphans(self):
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/cwd" % name) == self.data:
                    return True
            except OSError:
                continue
        return False

    def await_ready(self):
        end_s = time.monotonic() + READY_TIMEOUT_S
        while subprocess.run(["psql", "-XAtqc", "select 1"], env=self.environment(),
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode != 0:
            if self.process.poll() is not None:
                raise Ended(self.last_logged())
            if time.monotonic() > end_s:
                raise RuntimeError("the server does not answer:\n" + self.last_logged())
            time.sleep(0.05)

    def logged(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def last_logged(self):
        return "\n".join(self.logged().splitlines()[-20:])

    def forget_log(self):
        if os.path.exists(self.log):
            os.unlink(self.log)

    def stop(self):
        """Fast shutdown, by the number that the server itself wrote down."""
        if not self.process:
            return
        try:
            with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
                postmaster = int(file.readline())
            os.kill(postmaster, signal.SIGINT)
        except (OSError, ValueError):
            self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

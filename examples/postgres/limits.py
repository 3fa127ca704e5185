# SPDX-License-Identifier: MIT
"""The two limits that a server is put under: the kernel's memory cgroup, version 1 or 2, and
`umemcg run`. Each can say what the server needs to start below it, and its peak afterwards."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile

# What was sent SIGKILL is gone long before.
REST_TIMEOUT_S = 10
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Missing(Exception):
    """Why there is no such limit here."""


def nr_bytes(size):
    unit = UNITS.get(size[-1:].upper())
    try:
        return int(size[:-1]) * unit if unit else int(size)
    except ValueError:
        raise Missing("%r is no size" % size) from None


def own_cgroup(controller):
    """Path of our cgroup; version 2 if @controller is empty."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if controller in controllers.split(","):
                return path.lstrip("/")
    return ""


class Cgroup:
    """The kernel's memory controller, as root has it."""
    title = "memory cgroup"

    def __init__(self, options):
        self.size = nr_bytes(options.max)
        self.folder = self._make()
        try:
            self._limit()
        except OSError as error:
            os.rmdir(self.folder)
            raise Missing("cannot limit a memory cgroup here: %s" % error.strerror) from error

    def _make(self):
        name = "umemcg-demo-%d" % os.getpid()
        if os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            self.version = 1
            parents = [os.path.join("/sys/fs/cgroup/memory", own_cgroup("memory")),
                       "/sys/fs/cgroup/memory"]
        elif os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            self.version = 2
            # A cgroup that has processes cannot have limited children, so ours would not do.
            parents = [os.path.dirname(os.path.join("/sys/fs/cgroup", own_cgroup(""))),
                       "/sys/fs/cgroup"]
        else:
            raise Missing("no memory cgroup is mounted")
        reason = "?"
        for parent in parents:
            folder = os.path.join(parent, name)
            try:
                os.mkdir(folder)
            except OSError as error:
                reason = error.strerror
                continue
            if self.version == 1 or self._enabled(parent, folder):
                return folder
            os.rmdir(folder)
            reason = "the memory controller is not enabled there"
        raise Missing("cannot make a memory cgroup here: %s" % reason)

    @staticmethod
    def _enabled(parent, folder):
        if not os.path.exists(os.path.join(folder, "memory.max")):
            try:
                with open(os.path.join(parent, "cgroup.subtree_control"), "w",
                          encoding="ascii") as file:
                    file.write("+memory")
            except OSError:
                return False
        return os.path.exists(os.path.join(folder, "memory.max"))

    def _write(self, name, value):
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def _limit(self):
        self._write("memory.limit_in_bytes" if self.version == 1 else "memory.max", self.size)
        # Memory that went to swap would only make it slow; not every kernel counts swap.
        swap = (("memory.memsw.limit_in_bytes", self.size) if self.version == 1
                else ("memory.swap.max", 0))
        if os.path.exists(os.path.join(self.folder, swap[0])):
            self._write(*swap)

    def _end_rest(self):
        """A backend may hang that a killed server has left, and keeps the next one out."""
        with open(os.path.join(self.folder, "cgroup.procs"), encoding="ascii") as file:
            pids = [int(line) for line in file]
        for pid in pids:
            try:
                process = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                signal.pidfd_send_signal(process, signal.SIGKILL)
                select.select([process], [], [], REST_TIMEOUT_S)
            except ProcessLookupError:
                pass
            finally:
                os.close(process)

    def start(self, server):
        self._end_rest()
        server.start(before=lambda: self._write("cgroup.procs", os.getpid()))

    def peak(self):
        name = "memory.max_usage_in_bytes" if self.version == 1 else "memory.peak"
        try:
            with open(os.path.join(self.folder, name), encoding="ascii") as file:
                return int(file.read())
        except OSError:
            return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end_rest()
        os.rmdir(self.folder)


class Umemcg:
    """A tree of its own, which is gone with the server."""

    def __init__(self, options):
        self.size = nr_bytes(options.max)
        self.title = "umemcg run --max %s" % options.max
        self.program = os.path.join(os.path.abspath(options.build), "umemcg")
        if not os.access(self.program, os.X_OK):
            raise Missing("there is no %s; `make` builds it" % self.program)
        if subprocess.run([self.program, "run", "--help"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0:
            raise Missing("this umemcg has no verb run")
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="umemcg-demo-", dir=place)
        self.summary = os.path.join(self.folder, "summary.json")

    def start(self, server):
        if server.user:
            os.chown(self.folder, server.user.pw_uid, server.user.pw_gid)
            reached = subprocess.run([*server.as_user(), "test", "-x", self.program])
            if reached.returncode != 0:
                raise RuntimeError("user %s cannot reach %s" %
                                   (server.user.pw_name, self.program))
        server.start([self.program, "run", "--max", str(self.size), "--summary=" + self.summary, "--"],
                     {"XDG_RUNTIME_DIR": self.folder})

    def peak(self):
        try:
            with open(self.summary, encoding="utf-8") as file:
                return json.load(file).get("peak")
        except (OSError, ValueError):
            return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

# SPDX-License-Identifier: MIT
"""A witness that asks the kernel: how much anonymous memory a process and all below it had, at most,
whenever it looked. Pages that a fork shares count once, so it is a true sum."""

import os
import threading

INTERVAL_S = 0.02
# Of each process, what no account of the C library's sees: its data, its main stack, the loader's.
UNSEEN_BYTES = 2 << 20
# A heap keeps some of the memory that was freed for the next request, a few MiB a process or less than
# this part of the limit. That is resident and not charged.
KEPT_PART = 16


def below(pid):
    """A living process and its descendants."""
    found, waiting = [], [pid]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        try:
            for thread in os.listdir("/proc/%d/task" % pid):
                with open("/proc/%d/task/%s/children" % (pid, thread), encoding="ascii") as file:
                    waiting.extend(map(int, file.read().split()))
        except OSError:
            continue
    return found


def anonymous(pid):
    """Bytes; 0 if it has ended, or is not ours to look at."""
    try:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
            for line in file:
                if line.startswith("Pss_Anon:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


class Witness(threading.Thread):
    """Looks from start to end()."""

    def __init__(self, pid, unseen_bytes=UNSEEN_BYTES):
        super().__init__(daemon=True)
        self.pid, self.unseen_bytes = pid, unseen_bytes
        self.ending = threading.Event()
        self.peak = 0
        # The peak as far as an account may see it.
        self.peak_seen = 0

    def look(self):
        # While it looks at one, another may hand on what it had already been seen with. Of two looks
        # the lesser is no more than what each had in between, so no sum is seen that never was.
        processes = below(self.pid)
        first = [anonymous(pid) for pid in processes]
        sizes = [min(size, anonymous(pid)) for size, pid in zip(first, processes)]
        self.peak = max(self.peak, sum(sizes))
        self.peak_seen = max(self.peak_seen, sum(sizes) - self.unseen_bytes * len(sizes))

    def run(self):
        while not self.ending.wait(INTERVAL_S):
            self.look()

    def end(self):
        self.ending.set()
        self.join()

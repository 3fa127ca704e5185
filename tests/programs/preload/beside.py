#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Another allocator, preloaded before the preload object or after it: nothing crashes.

    beside.py ALLOCATOR PROGRAM...

Each program (a command line in one argument) must do the same as without any of the two.
"""

import ctypes.util
import os
import shlex
import subprocess
import sys

OURS = os.environ["LD_PRELOAD"]


def outcome(command, preload):
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment.pop("MALLOC_PERTURB_", None)
    if preload:
        environment["LD_PRELOAD"] = preload
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout


def main():
    other = ctypes.util.find_library(sys.argv[1])
    if not other:
        print("there is no lib%s here" % sys.argv[1])
        return 77
    status = 0
    for line in sys.argv[2:]:
        command = shlex.split(line)
        wanted = outcome(command, None)
        for preload in (other + ":" + OURS, OURS + ":" + other):
            got = outcome(command, preload)
            if got != wanted:
                print("%s: %r with %s, %r without" % (line, got, preload, wanted))
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

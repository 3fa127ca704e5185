#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the preload object shows the loader.

    exports.py LIBRARY PRELOAD

It needs libc and nothing else; it offers the library's functions under the same versions, and the
malloc family under none, since a symbol with a version would not answer for libc's.
"""

import re
import subprocess
import sys

FAMILY = """aligned_alloc calloc cfree free mallinfo mallinfo2 malloc malloc_stats malloc_trim
malloc_usable_size mallopt memalign posix_memalign pvalloc realloc reallocarray valloc __libc_calloc
__libc_free __libc_malloc __libc_memalign __libc_pvalloc __libc_realloc __libc_valloc
__posix_memalign abort pthread_create thrd_create""".split()


def lines_of(*command):
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return output.splitlines()


def exported(library):
    """Name to version of what a library defines for others."""
    names = {}
    for line in lines_of("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library):
        kind, symbol = line.split()[-2:]
        if kind != "A":
            name, _, version = symbol.partition("@@")
            names[name] = version
    return names


def main():
    library, preload = sys.argv[1:]
    faults = []
    needed = [re.search(r"\[(.*)\]", line).group(1)
              for line in lines_of("readelf", "--dynamic", "--wide", preload) if "(NEEDED)" in line]
    if needed != ["libc.so.6"]:
        faults.append("it needs " + " ".join(needed))
    public, names = exported(library), exported(preload)
    for name, version in public.items():
        if names.get(name) != version:
            faults.append("%s: %s, not %s" % (name, names.get(name), version))
    for name in FAMILY:
        if names.get(name) != "":
            faults.append("%s: %s" % (name, names.get(name, "missing")))
    for name in names:
        if name.startswith("umemcg_") and name not in public:
            faults.append(name + ": the library does not have it")
    for fault in faults:
        print(fault)
    return 1 if faults or not public else 0


if __name__ == "__main__":
    sys.exit(main())

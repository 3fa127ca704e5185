#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""embed.py NAME INPUT OUTPUT: a text file as a C string called NAME."""
import json
import sys

name, source, target = sys.argv[1:]
with open(source, encoding="ascii") as lines, open(target, "w", encoding="ascii") as out:
    out.write(f'#include "report/html/page.h"\n\nconst char {name}[] =\n')
    # JSON quotes ASCII as C does.
    out.writelines(f"\t{json.dumps(line)}\n" for line in lines)
    out.write("\t;\n")

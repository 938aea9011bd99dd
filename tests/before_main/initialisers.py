#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""initialisers.py OBJDUMP none|some FILE...

Looks for code that runs before main(): sections of initialisers in objects and static libraries.
With "none" there must be none. With "some" the files are a negative control, and each must have one.
"""
import re
import subprocess
import sys

INITIALISERS = re.compile(r"^\.(preinit_array|init_array|ctors)\b")


def members_with_initialisers(objdump, path):
    """The members of a library, or the object itself, and how many members were looked at."""
    text = subprocess.run([objdump, "-h", "-w", path], check=True, capture_output=True,
                          text=True).stdout
    found, count, member = [], 0, path
    for line in text.splitlines():
        if start := re.match(r"^(\S+):\s+file format ", line):
            member, count = start.group(1), count + 1
        elif (section := re.match(r"^\s*\d+ (\S+)\s+([0-9a-f]+) ", line)) and int(
                section.group(2), 16) and INITIALISERS.match(section.group(1)):
            found.append(f"{member}: {section.group(1)}")
    return found, count


def main():
    objdump, wanted, *paths = sys.argv[1:]
    bad = not paths
    for path in paths:
        found, count = members_with_initialisers(objdump, path)
        print(f"{path}: {count} objects; " + ("; ".join(found) or "no initialisers"))
        bad = bad or count == 0 or bool(found) != (wanted == "some")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

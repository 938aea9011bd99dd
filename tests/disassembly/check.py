#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py x86-64|armv8|armv8.1 OBJDUMP OBJECT hot|slow

Reads the machine code of the hot paths and follows every way through it: no call, no locked or
exclusive instruction, no barrier but those that the labels of block.hpp ask for, in their order. With
"slow" the object is the negative control, and every function of it must be found faulty.
"""
import re
import subprocess
import sys

COMMIT = "stlr, dmb ish, stlr, dmb ish"  # [W1] [W2] [W3] [W4]
ATTEMPT = "ldar, dmb ishld"  # [R1] [R2], and likewise [R3] [R4]

# What AArch64 needs: any way through the function orders by one of these, and some way by the last.
# On x86-64 all of it is free, so there nothing may be found.
ORDERS = {
    "hot_add": ["", COMMIT],
    "hot_update": ["", COMMIT],  # nothing, if no word was inside the block
    # As hot_add, and [S3] before the first change of a life to a shard.
    "hot_sharded_add": ["", "stlr", COMMIT],
    "hot_increment": [""],
    "hot_try_read": [ATTEMPT],
    "hot_read": [ATTEMPT],
    "hot_still_in": ["dmb ishld"],  # [R5]
    "read_again": ["", ATTEMPT, f"{ATTEMPT}, {ATTEMPT}"],  # as far as ways are followed
    "write_checkpoint": ["", "stlr"],  # [W5], where there is a checkpoint
}
# The cold paths behind the hot ones: once in kCheckpointEvery commits, and after a failed attempt. The
# block that such a path is given lies in memory, so its width is no longer a constant to the compiler,
# and there is the call that copies wide ones.
CALLS = {
    "hot_add": ["write_checkpoint"],
    "hot_update": ["write_checkpoint"],
    # A sequence that was interrupted or is of another word, a thread's first count, more threads than blocks.
    "hot_sharded_add": ["write_checkpoint", "change_on_processor", "take_thread_number",
                        "change_shared_shard"],
    "hot_read": ["read_again", "copy_words_relaxed"],
    "read_again": ["copy_words_relaxed"],
}
# The oldest machine of its kind lacks an instruction: a function of the compiler picks how to add.
CALLS_OF = {
    ("armv8", "hot_add"): ["__aarch64_ldadd8_relax"],
    ("armv8", "hot_sharded_add"): ["__aarch64_ldadd8_relax"],
    ("armv8", "hot_increment"): ["__aarch64_ldadd8_relax"],
}

# The faults of the control, and the path as which each function is judged.
SLOW = {
    "calls": "hot_increment",
    "jumps_away": "hot_increment",
    "locks": "hot_increment",
    "swaps": "hot_increment",
    "calls_one_that_swaps": "hot_increment",
    "fences": "hot_increment",
    "counts_for_all_threads": "hot_sharded_add",
    "reads_without_order": "hot_try_read",
    "commits_without_fences": "hot_add",
    "commits_mostly_with_fences": "hot_add",
}
# What is no fault there: x86-64 orders loads and stores by itself, and one instruction of ARMv8.1
# adds without a lock.
HARMLESS = {("x86-64", "reads_without_order"), ("x86-64", "commits_without_fences"),
            ("x86-64", "commits_mostly_with_fences"), ("armv8.1", "locks")}

X86_FORBIDDEN = re.compile(r"^(lock\b|[msl]fence\b|cpuid\b|xchg\b.*\(|cmpxchg|xadd)")
ARM_FORBIDDEN = re.compile(r"^(ldxr|ldaxr|stxr|stlxr|swp|cas|isb)")
ARM_ORDERING = re.compile(r"^(dmb|dsb|ldar|ldapr|stlr)\b")
ORDERS_FOLLOWED = 4  # more of them on one way are a loop


class Object:
    """The code of an object file: instructions by place, a place being (section, offset)."""

    def __init__(self, machine, objdump, path):
        self.machine = machine
        self.code = {}  # place: (instruction, relocation or None)
        self.next = {}  # place: the place behind it
        self.starts = {}  # function: place
        text = subprocess.run([objdump, "-d", "-r", "--no-show-raw-insn", path], check=True,
                              capture_output=True, text=True).stdout
        section = place = None
        for line in text.splitlines():
            if new := re.match(r"^Disassembly of section (.*):$", line):
                section, place = new.group(1), None
            elif start := re.match(r"^([0-9a-f]+) <(.*)>:$", line):
                self.starts[start.group(2)] = (section, int(start.group(1), 16))
            elif relocation := re.match(r"^\s+[0-9a-f]+: R_\S+\s+(\S+)", line):
                self.code[place] = (self.code[place][0], relocation.group(1))
            elif found := re.match(r"^\s*([0-9a-f]+):\s+(.*?)\s*(//.*)?$", line):
                before, place = place, (section, int(found.group(1), 16))
                self.code[place] = (re.sub(r"\s+", " ", found.group(2)), None)
                if before:
                    self.next[before] = place

    def goal(self, place):
        """Where a call or jump leads: a place of this object, or the name of what is not in it."""
        instruction, relocation = self.code[place]
        if relocation:
            symbol, sign, offset = re.match(r"^(.*?)(?:([-+])0x([0-9a-f]+))?$", relocation).groups()
            offset = int(offset or "0", 16) * (-1 if sign == "-" else 1)
            offset += 4 if self.machine == "x86-64" else 0  # counted from behind the field
            if symbol in self.starts and offset == 0:
                return self.starts[symbol]
            return (symbol, offset) if (symbol, offset) in self.code else symbol
        address = re.search(r"(?:^| |, )([0-9a-f]+) <", instruction)
        return (place[0], int(address.group(1), 16)) if address else "somewhere"

    def kind(self, place):
        word = self.code[place][0].split(" ")[0]
        if self.machine == "x86-64":
            return ("call" if word.startswith("call") else "jump" if word == "jmp" else
                    "branch" if word.startswith("j") else "return" if word == "ret" else "")
        return ("call" if word in ("bl", "blr") else "jump" if word in ("b", "br") else
                "branch" if word[:2] in ("b.", "cb", "tb") else "return" if word == "ret" else "")

    def name_at(self, goal):
        """The function that begins at a place, or the name itself."""
        names = [name for name, start in self.starts.items() if start == goal]
        return next((name for name in names if ".cold" not in name), None) if names else (
            goal if isinstance(goal, str) else None)


def ways(code, start, allowed, faults):
    """Follows all ways from `start`. Returns the orders of each; adds what is wrong to `faults`."""
    ends, seen, left = set(), set(), [(start, ())]
    forbidden = X86_FORBIDDEN if code.machine == "x86-64" else ARM_FORBIDDEN
    while left:
        place, orders = left.pop()
        if (place, orders) in seen or len(orders) > ORDERS_FOLLOWED or place is None:
            continue
        seen.add((place, orders))
        instruction, kind = code.code[place][0], code.kind(place)
        if forbidden.match(instruction):
            faults.add(f"holds '{instruction}'")
        if code.machine != "x86-64" and ARM_ORDERING.match(instruction):
            word = instruction if instruction.startswith("d") else instruction.split(" ")[0]
            orders += ("ldar" if word == "ldapr" else word,)
        behind = code.next.get(place)
        if kind == "return":
            ends.add(orders)
        elif not kind:
            left.append((behind, orders))
        else:
            goal = code.goal(place)
            name = code.name_at(goal)
            inside = [()]  # what a function adds that is called or jumped to
            if name and any(symbol in name for symbol in allowed):
                pass
            elif isinstance(goal, str):
                faults.add(f"leaves for {goal}: {instruction}")
            elif kind == "call":
                inside = ways(code, goal, allowed, faults) if goal != start else [()]
            else:
                left.append((goal, orders))
                inside = []
            for more in inside:
                if kind == "call":
                    left.append((behind, orders + more))
                else:
                    ends.add(orders + more)
            if kind == "branch":
                left.append((behind, orders))
    return ends


def faults_of(code, name, path):
    """What is wrong with the function `name`, judged as `path`."""
    faults = set()
    allowed = CALLS.get(path, []) + CALLS_OF.get((code.machine, name), [])
    found = {", ".join(orders) for orders in ways(code, code.starts[name], allowed, faults)}
    wanted = [""] if code.machine == "x86-64" else ORDERS[path]
    faults |= {f"one way orders by [{orders}]" for orders in found - set(wanted)}
    if wanted[-1] not in found:
        faults.add(f"no way orders by [{wanted[-1]}]")
    return sorted(faults)


def main():
    machine, objdump, path, kind = sys.argv[1:]
    code = Object(machine, objdump, path)
    bad = 0
    seen = set()
    for name in code.starts:
        known = SLOW.get(name) if kind == "slow" else next((p for p in ORDERS if p in name), None)
        if not known or ".cold" in name:
            continue
        seen.add(name if kind == "slow" else known)
        faults = faults_of(code, name, known)
        print(f"{name}: {'; '.join(faults) or 'good'}")
        if kind == "slow":
            bad += not faults and (machine, name) not in HARMLESS
        else:
            bad += bool(faults)
    missing = set(SLOW if kind == "slow" else ORDERS) - seen
    if missing:
        print("not found in the object:", ", ".join(sorted(missing)))
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main())

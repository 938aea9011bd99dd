#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py x86-64|armv8|armv8.1 OBJDUMP OBJECT hot|slow

Reads the machine code of the hot paths: no call, no locked or exclusive instruction, no barrier but
those that the labels of block.hpp ask for, in their order. With "slow" the object is the negative
control, and every function of it must be found faulty.
"""
import re
import subprocess
import sys

COMMIT = ["stlr", "dmb ish", "stlr", "dmb ish"]  # [W1] [W2] [W3] [W4]
ATTEMPT = ["ldar", "dmb ishld"]  # [R1] [R2], and likewise [R3] [R4]

# What AArch64 needs; on x86-64 all of it is free, so there each list must come out empty.
ORDERS = {
    "hot_add": COMMIT,
    "hot_update": COMMIT,
    "hot_increment": [],
    "hot_try_read": ATTEMPT,
    "hot_read": ATTEMPT + ATTEMPT,
    "hot_still_in": ["dmb ishld"],  # [R5]
    "write_checkpoint": ["stlr"],  # [W5]
}
# The one path that leaves a hot function, once in kCheckpointEvery commits.
CALLS = {"hot_add": ["write_checkpoint"], "hot_update": ["write_checkpoint"]}
# The oldest machine of its kind lacks an instruction: a function of the compiler picks how to add.
CALLS_OF = {
    ("armv8", "hot_add"): ["__aarch64_ldadd8_relax"],
    ("armv8", "hot_increment"): ["__aarch64_ldadd8_relax"],
}

# The faults of the control, and the path as which each function is judged.
SLOW = {
    "calls": "hot_increment",
    "jumps_away": "hot_increment",
    "locks": "hot_increment",
    "calls_one_that_swaps": "hot_increment",
    "swaps": "hot_increment",
    "fences": "hot_increment",
    "reads_without_order": "hot_try_read",
    "commits_without_fences": "hot_add",
}
# What is no fault there: x86-64 orders loads and stores by itself, and one instruction of ARMv8.1
# adds without a lock.
HARMLESS = {("x86-64", "reads_without_order"), ("x86-64", "commits_without_fences"),
            ("armv8.1", "locks")}

X86_FORBIDDEN = re.compile(r"^(lock\b|[msl]fence\b|cpuid\b|xchg\b.*\(|cmpxchg|xadd)")
ARM_ORDERING = re.compile(r"^(dmb|dsb|ldar|ldapr|stlr)\b")
ARM_FORBIDDEN = re.compile(r"^(ldxr|ldaxr|stxr|stlxr|swp|cas|isb)")


def functions(objdump, path):
    """Yields (name, [(instruction, relocation or None), ...])."""
    text = subprocess.run([objdump, "-d", "-r", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    name, code = None, []
    for line in text.splitlines():
        start = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        relocation = re.match(r"^\s+[0-9a-f]+: (R_\S+)\s+(\S+)", line)
        instruction = re.match(r"^\s+[0-9a-f]+:\s+(.*?)\s*(//.*)?$", line)
        if start:
            if name:
                yield name, code
            name, code = start.group(1), []
        elif relocation and code:
            code[-1] = (code[-1][0], relocation.group(2))
        elif instruction and name:
            code.append((re.sub(r"\s+", " ", instruction.group(1)), None))
    if name:
        yield name, code


def goal_of(machine, name, instruction, relocation):
    """Where a call or a jump leads that leaves the function; None for what stays inside."""
    word = instruction.split(" ")[0]
    calls = word.startswith("call") if machine == "x86-64" else word in ("bl", "blr")
    jumps = word.startswith("j") if machine == "x86-64" else word in ("b", "br") or word[:2] == "b."
    if not calls and not jumps:
        return None
    if relocation:
        return re.sub(r"[-+]0x[0-9a-f]+$", "", relocation)
    place = re.search(r"<([^>+]*)", instruction)
    if place and place.group(1) != name:
        return place.group(1)
    return "somewhere" if calls or not place else None


def judge(machine, name, code_of, allowed, depth=0):
    """(faults, orders) of a function. Other functions of the object are followed where called."""
    faults, orders = [], []
    for instruction, relocation in code_of[name]:
        goal = goal_of(machine, name, instruction, relocation)
        if goal and not any(symbol in goal for symbol in allowed):
            if goal in code_of and depth < 5:
                more = judge(machine, goal, code_of, allowed, depth + 1)
                faults += more[0]
                orders += more[1]
            else:
                faults.append(f"leaves for {goal}: {instruction}")
        forbidden = X86_FORBIDDEN if machine == "x86-64" else ARM_FORBIDDEN
        if forbidden.match(instruction):
            faults.append(f"holds '{instruction}'")
        if machine != "x86-64" and ARM_ORDERING.match(instruction):
            word = instruction if instruction.startswith("d") else instruction.split(" ")[0]
            orders.append("ldar" if word == "ldapr" else word)
    return faults, orders


def faults_of(machine, name, path, code_of):
    """What is wrong with the function `name`, judged as `path`."""
    allowed = CALLS.get(path, []) + CALLS_OF.get((machine, name), [])
    faults, orders = judge(machine, name, code_of, allowed)
    wanted = [] if machine == "x86-64" else ORDERS[path]
    if orders != wanted:
        faults.append(f"orders by {orders}, not by {wanted}")
    return faults


def main():
    machine, objdump, path, kind = sys.argv[1:]
    bad = 0
    seen = set()
    code_of = dict(functions(objdump, path))
    for name, code in code_of.items():
        known = SLOW.get(name) if kind == "slow" else next((p for p in ORDERS if p in name), None)
        if not known:
            continue
        seen.add(name if kind == "slow" else known)
        faults = faults_of(machine, name, known, code_of)
        print(f"{name}: {len(code)} instructions, {'; '.join(faults) or 'good'}")
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

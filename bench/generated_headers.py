#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generated_headers.py METERBANK-GEN [ROUNDS]

What a generated header costs the files that include it: the processor time to compile a file with a
header of 50 counters, beside one with the same schema by hand, and one with the headers of the
publisher library and nothing else. The first two register the set, make an instance and update ten counters. The three
take turns; medians are printed, and what is generated divided by what is written by hand.
"""
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
GENERATOR = pathlib.Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 11
COUNTERS = 50
TYPES = ["bulk_count", "large_rawcount", "rawcount", "counter", "large_rawcount"]


def manifest():
    lines = ['[provider]\nname = "wide"\n[[counterset]]\nname = "Wide"\ninstances = "multiple"']
    for number in range(COUNTERS):
        lines.append(f"""[[counterset.counter]]
id = {number + 1}
name = "Counter {number}/sec"
symbol = "counter_{number}"
type = "{TYPES[number % len(TYPES)]}"
unit = "{{thing}}"
help = "Things that were counted in place {number}."
""")
    return "\n".join(lines)


def by_hand(page):
    """Of the generated page the enumerators and the schema, which are what one writes by hand."""
    schema = page[:page.index("// What one update changes")] + "}  // namespace wide\n"
    return re.sub(r'#include "meterbank/publisher/exact.hpp"\n', "", schema)


TYPED = """#include "wide.hpp"
bool run(meterbank::Provider& provider) {
  auto set = wide::Wide::add(provider);
  auto row = set->create("one");
  row->update([](wide::WideUpdate& values) noexcept {
%s  });
  return set.has_value();
}
""" % "".join(f"    values.add_counter_{5 * i}({i});\n" for i in range(10))
BY_HAND = """#include "by_hand.hpp"
bool run(meterbank::Provider& provider) {
  auto set = provider.add(wide::kWideSet);
  auto row = set->create_instance("one");
  row->update([](meterbank::Values& values) noexcept {
%s  });
  return set.has_value();
}
""" % "".join(f"    values.add(wide::WideCounter::kCounter{5 * i}, {i});\n" for i in range(10))
EMPTY = '#include "meterbank/publisher/provider.hpp"\n'


def seconds_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "wide.toml").write_text(manifest())
        subprocess.run([GENERATOR, folder / "wide.toml", "--cpp", folder / "wide.hpp"], check=True)
        page = (folder / "wide.hpp").read_text()
        (folder / "by_hand.hpp").write_text(by_hand(page))
        files = {"headers alone": EMPTY, "by hand": BY_HAND, "generated": TYPED}
        for kind, text in files.items():
            (folder / f"{kind}.cpp").write_text(text)
        print(f"{COUNTERS} counters, {len(page.splitlines())} generated lines, "
              f"{len(by_hand(page).splitlines())} by hand; ms of processor time, {ROUNDS} rounds")
        for compiler in filter(None, map(shutil.which, ("g++", "clang++"))):
            for level in ("-O0", "-O2"):
                times = {kind: [] for kind in files}
                for _ in range(ROUNDS):
                    for kind, taken in times.items():
                        taken.append(1000 * seconds_of(
                            [compiler, "-std=c++20", level, "-c", folder / f"{kind}.cpp", "-o",
                             folder / "file.o", f"-I{SOURCE}/publisher/include",
                             f"-I{SOURCE}/shm/include"]))
                ratio = statistics.median(ours / by_hand for ours, by_hand in
                                          zip(times["generated"], times["by hand"]))
                print(f"{pathlib.Path(compiler).name:8} {level} ", *(
                    f"{kind} {statistics.median(taken):.0f} " for kind, taken in times.items()),
                    f"ratio {ratio:.2f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile_time.py SOURCE-FOLDER PAGES-PROGRAM [ROUNDS]

What a generated header costs the files that include it: the time to compile a file with a header of
50 counters, beside one with the same schema by hand, and one with our headers and nothing else. Each
registers the set, makes an instance, and updates ten counters. Prints medians; asserts nothing.
"""
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE, PAGES = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 7
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
    schema = page[:page.index("// What one update changes")] + "}  // namespace page_1\n"
    return re.sub(r'#include "meterbank/publisher/exact.hpp"\n', "", schema)


TYPED = """#include "page_1_typed.hpp"
bool run(meterbank::Provider& provider) {
  auto set = page_1::Wide::add(provider);
  auto row = set->create("one");
  row->update([](page_1::WideUpdate& values) noexcept {
%s  });
  return set.has_value();
}
""" % "".join(f"    values.add_counter_{5 * i}({i});\n" for i in range(10))
BY_HAND = """#include "by_hand.hpp"
bool run(meterbank::Provider& provider) {
  auto set = provider.add(page_1::kWideSet);
  auto row = set->create_instance("one");
  row->update([](meterbank::Values& values) noexcept {
%s  });
  return set.has_value();
}
""" % "".join(f"    values.add(page_1::WideCounter::kCounter{5 * i}, {i});\n" for i in range(10))
EMPTY = '#include "meterbank/publisher/provider.hpp"\n'


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "wide.toml").write_text(manifest())
        subprocess.run([PAGES, folder, folder / "wide.toml"], check=True)
        page = (folder / "page_1_typed.hpp").read_text()
        (folder / "by_hand.hpp").write_text(by_hand(page))
        files = {"nothing": EMPTY, "by hand": BY_HAND, "generated": TYPED}
        for kind, text in files.items():
            (folder / f"{kind}.cpp").write_text(text)
        print(f"{COUNTERS} counters; the header has {len(page.splitlines())} lines, by hand "
              f"{len(by_hand(page).splitlines())}; milliseconds, median of {ROUNDS}")
        for compiler in filter(None, map(shutil.which, ("g++", "clang++"))):
            for level in ("-O0", "-O2"):
                times = {kind: [] for kind in files}
                for _ in range(ROUNDS):
                    for kind in files:
                        started = time.monotonic()
                        subprocess.run(
                            [compiler, "-std=c++20", level, "-c", folder / f"{kind}.cpp", "-o",
                             folder / "file.o", f"-I{SOURCE}/publisher/include",
                             f"-I{SOURCE}/shm/include"], check=True)
                        times[kind].append(1000 * (time.monotonic() - started))
                print(f"{pathlib.Path(compiler).name:8} {level}", *(
                    f"{kind} {statistics.median(taken):.0f}" for kind, taken in times.items()))


if __name__ == "__main__":
    main()

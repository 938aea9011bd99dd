#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manual_test.py METERBANK-GEN COMPILER

What docs/manifests.md shows in its first five minutes works as it stands: the manifest is good, the
program compiles against the header that is made of it. Wrongly spelled, neither is.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

GENERATOR, COMPILER = sys.argv[1:3]
SOURCE = pathlib.Path(__file__).resolve().parents[3]
MANUAL = (SOURCE / "docs" / "manifests.md").read_text()


def first(language):
    return re.search(rf"^```{language}\n(.*?)^```$", MANUAL, re.M | re.S)[1]


def program(code):
    """The excerpt as a function, with what it leaves to the reader."""
    includes, code = code.split("\n\n", 1)
    return (f"{includes}\n#include <vector>\n"
            f"void serve(const std::vector<int>& queue, double seconds) {{\n{code}}}\n")


def works(folder, manifest, code):
    (folder / "orders.toml").write_text(manifest)
    (folder / "gateway.cpp").write_text(program(code))
    made = subprocess.run([GENERATOR, "orders.toml", "--cpp", "orders.hpp"], cwd=folder,
                          capture_output=True, text=True, check=False)
    compiled = subprocess.run(
        [COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I.",
         f"-I{SOURCE}/publisher/include", f"-I{SOURCE}/shm/include", "gateway.cpp"],
        cwd=folder, capture_output=True, text=True, check=False)
    return made.stderr, compiled.stderr


def main():
    manifest, code = first("toml"), first("cpp")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        messages = works(folder, manifest, code)
        assert messages == ("", ""), messages
        _, wrong_code = works(folder, manifest, code.replace("add_accepted", "add_acepted"))
        assert "add_acepted" in wrong_code, wrong_code
        wrong_manifest, _ = works(folder, manifest.replace("queue_depth", "accepted"), code)
        assert "orders.toml:" in wrong_manifest, wrong_manifest


main()

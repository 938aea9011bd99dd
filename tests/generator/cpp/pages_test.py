#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages_test.py CHECK SOURCE-FOLDER BUILD-FOLDER PAGES-PROGRAM

What meterbank-gen writes, judged by the programs that read it. CHECK is one of
  same          the same bytes again, from another folder, by another path, in other locales
  form          headers begin with the mark that formatters obey, and no line ends with a blank
  compile       the warnings of all users are silent, with g++ and clang++
  widths        a value that may not fit its counter does not compile
  instructions  a generated update is the one that one writes by hand
"""
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CHECK, SOURCE, BUILD, PAGES = sys.argv[1], *(pathlib.Path(word).resolve() for word in sys.argv[2:5])
HERE = SOURCE / "tests/generator/cpp"
MANIFESTS = sorted((SOURCE / "tests/generator/manifests/good").iterdir()) + sorted(
    (HERE / "manifests").iterdir())
COMPILERS = [found for found in map(shutil.which, ("g++", "clang++")) if found]
COMPILE = ["-std=c++20", f"-I{SOURCE}/publisher/include", f"-I{SOURCE}/shm/include",
           f"-I{BUILD}/generated"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic",
            "-Wold-style-cast", "-Werror"]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)


def write_pages(folder, manifests=MANIFESTS, **options):
    folder.mkdir(parents=True, exist_ok=True)
    done = run(PAGES, folder, *manifests, **options)
    assert done.returncode == 0, done.stderr
    return folder


def different(left, right):
    names = sorted(path.name for path in left.iterdir())
    assert names == sorted(path.name for path in right.iterdir())
    assert len(names) > 50
    return filecmp.cmpfiles(left, right, names, shallow=False)[1]


def locales(folder):
    """Those of this machine that count, spell or sort otherwise, made if they are not there."""
    usable = [("C", {}), ("C.UTF-8", {})]
    for name in ("de_DE", "tr_TR", "hi_IN"):
        made = shutil.which("localedef") and run(
            "localedef", "-i", name, "-f", "UTF-8", folder / f"{name}.UTF-8").returncode == 0
        if made:
            usable.append((f"{name}.UTF-8", {"LOCPATH": str(folder)}))
    return usable


def same(folder):
    first = write_pages(folder / "first", env={"LC_ALL": "C"})
    elsewhere = folder / "some where" / "else"
    elsewhere.mkdir(parents=True)
    by_other_paths = [os.path.relpath(path, elsewhere) for path in MANIFESTS]
    assert not different(first, write_pages(folder / "second", by_other_paths, cwd=elsewhere))
    (folder / "locales").mkdir()
    seen = []
    for name, more in locales(folder / "locales"):
        pages = write_pages(folder / name, env={"LC_ALL": name, **more})
        assert not different(first, pages), name
        seen.append(name)
    print("the same in", *seen)
    copies = folder / "copies"
    copies.mkdir()
    changed = [pathlib.Path(shutil.copy(path, copies)) for path in MANIFESTS]
    changed[-1].write_text(changed[-1].read_text() + "\n# One more line.\n")
    assert different(first, write_pages(folder / "changed", changed))


def faults_of_form(text):
    faults = [] if text.startswith("// clang-format off\n// Generated from ") else ["no mark"]
    return faults + [line for line in text.splitlines() if "\t" in line or line != line.rstrip()]


def form(folder):
    headers = [path for path in write_pages(folder / "pages").glob("page_*")
               if path.suffix in (".hpp", ".h")]
    assert len(headers) > 20
    for path in headers:
        assert not faults_of_form(path.read_text()), path
    good = headers[0].read_text()
    for bad in (good[1:], good + "int i; \n", good + "\tint i;\n"):
        assert faults_of_form(bad), bad


def compile_all(folder):
    pages = write_pages(folder / "pages")
    (pages / "all.cpp").write_text('#include "all.hpp"\n#include "all.hpp"\n')
    assert COMPILERS
    for compiler in COMPILERS:
        for dialect in ("-std=c++20", "-std=gnu++20"):
            done = run(compiler, *COMPILE, *WARNINGS, dialect, "-fsyntax-only", pages / "all.cpp")
            assert done.returncode == 0, done.stderr
    # Without its template's escapes a page would not compile: it does not here either.
    names = 1 + MANIFESTS.index(HERE / "manifests/names.toml")
    page = pages / f"page_{names}_typed.hpp"
    page.write_text(page.read_text().replace('\\"', '"'))
    assert run(compiler, *COMPILE, "-fsyntax-only", page).returncode != 0


def widths(_):
    source = HERE / "widths.cpp"
    wrong = [number for number, line in enumerate(source.read_text().splitlines(), 1)
             if line.endswith("// wrong")]
    assert len(wrong) > 20
    for compiler in COMPILERS:
        good = run(compiler, *COMPILE, *WARNINGS, "-fsyntax-only", source)
        assert good.returncode == 0, good.stderr
        no_limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
        bad = run(compiler, *COMPILE, no_limit, "-DMETERBANK_WRONG_WIDTHS", "-fsyntax-only", source)
        assert bad.returncode != 0
        seen = set(map(int, re.findall(r"widths\.cpp:(\d+):\d+: ", bad.stderr)))
        missing = [number for number in wrong if number not in seen]
        assert not missing, f"{compiler} takes lines {missing}"


def machine_code(path):
    """The instructions of each function without their operands: registers may be others."""
    functions, name = {}, None
    for line in run("objdump", "-d", "--no-show-raw-insn", path).stdout.splitlines():
        if start := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            name = start.group(1)
            functions[name] = []
        elif code := re.match(r"^\s+[0-9a-f]+:\s+(\S+)", line):
            functions[name].append(code.group(1))
    # Between functions there is padding.
    return {name: [word for word in words if not re.match(r"nop|cs|data16|xchg", word)]
            for name, words in functions.items()}


def instructions(folder):
    for compiler in COMPILERS:
        path = folder / "instructions.o"
        done = run(compiler, *COMPILE, "-O2", "-c", HERE / "instructions.cpp", "-o", path)
        assert done.returncode == 0, done.stderr
        code = machine_code(path)
        paths = [name[len("typed_"):] for name in code
                 if name.startswith("typed_") and "." not in name]
        assert len(paths) >= 5
        for name in paths:
            typed, by_hand, more = (code[f"{kind}_{name}"] for kind in ("typed", "by_hand", "more"))
            print(pathlib.Path(compiler).name, name, len(typed), len(by_hand), len(more))
            assert sorted(typed) == sorted(by_hand), (typed, by_hand)
            assert len(more) > len(typed)


def main():
    checks = {"same": same, "form": form, "compile": compile_all, "widths": widths,
              "instructions": instructions}
    with tempfile.TemporaryDirectory() as folder:
        checks[CHECK](pathlib.Path(folder))


if __name__ == "__main__":
    main()

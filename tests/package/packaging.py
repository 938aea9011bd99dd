#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What debian/ says, against what the rest of the tree says. Prints each difference, and fails if there is one.

  packaging.py claims TREE PREFIX   every file below PREFIX, where CMake installed the tree, is in one package
  packaging.py symbols TREE         the symbols of libmeterbank0 are those of tests/install/abi
  packaging.py version TREE         the version in debian/changelog is that of the CMake project
  packaging.py depends TREE         Build-Depends are the groups build, agent, pcp and python of packages.txt
"""
import os
import pathlib
import re
import sys


def fields(paragraph):
    """The fields of a paragraph of debian/control."""
    unfolded = re.sub(r"\n[ \t]+", " ", paragraph)
    return dict(line.split(":", 1) for line in unfolded.splitlines() if ":" in line)


def paragraphs(tree):
    text = (tree / "debian/control").read_text()
    return [fields(part) for part in text.strip().split("\n\n")]


def where_debian_has_it(path):
    """The path below / of a file that was installed below another prefix than /usr."""
    path = re.sub(r"^lib/python[0-9.]+/", "lib/python3/", path)
    path = path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/")
    path = re.sub(r"^lib/(?!python3/)", "lib/TRIPLET/", path)
    return "usr/" + path


def is_claimed(path, pattern):
    """Whether dh_install takes the file for this pattern: it, or a folder above it, matches."""
    part = "".join("[^/]*" if letter == "*" else re.escape(letter) for letter in pattern)
    return re.fullmatch(part + "(/.*)?", path) is not None


def claims(tree, prefix):
    prefix = pathlib.Path(prefix)
    installed = {where_debian_has_it(str(path.relative_to(prefix)))
                 for path in prefix.rglob("*") if not path.is_dir()}
    sources = {str(path.relative_to(tree)) for path in (tree / "tools/systemd").iterdir()}
    packages = {paragraph["Package"].strip() for paragraph in paragraphs(tree)[1:]}
    claimants = {path: set() for path in installed | sources}
    filled = set()
    for file in sorted((tree / "debian").iterdir()):
        package, _, kind = file.name.rpartition(".")
        if kind in ("sysusers", "tmpfiles"):
            patterns = [str((file.parent / os.readlink(file)).resolve().relative_to(tree.resolve()))]
        elif kind in ("install", "docs", "examples"):
            patterns = [line.split()[0] for line in file.read_text().splitlines()]
        else:
            continue
        filled.add(package)
        if package not in packages:
            yield f"debian/{file.name}: control has no package {package}"
        for pattern in patterns:
            found = [path for path in claimants if is_claimed(path, pattern)]
            for path in found:
                claimants[path].add(package)
            if not found and not list(tree.glob(pattern)):
                yield f"debian/{file.name}: nothing is installed as {pattern}"
    for package in sorted(packages - filled):
        yield f"debian/control: nothing is in {package}"
    for path, claiming in sorted(claimants.items()):
        if len(claiming) != 1:
            yield f"{path}: in {len(claiming)} packages {' '.join(sorted(claiming))}"


def symbols(tree):
    listed = set(re.findall(r"^ (\w+)@MB_0 ", (tree / "debian/libmeterbank0.symbols").read_text(), re.M))
    exported = set(re.findall(r"<elf-symbol name='(mb_\w+)'", (tree / "tests/install/abi/libmeterbank.abi").read_text()))
    if not exported:
        yield "tests/install/abi/libmeterbank.abi has no symbols"
    for name in sorted(exported - listed):
        yield f"debian/libmeterbank0.symbols: {name} is missing"
    for name in sorted(listed - exported - {"MB_0"}):
        yield f"debian/libmeterbank0.symbols: {name} is not exported"


def version(tree):
    project = re.search(r"^project\(meterbank VERSION ([0-9.]+)", (tree / "CMakeLists.txt").read_text(), re.M)[1]
    packaged = re.match(r"meterbank \(([^)]+)\)", (tree / "debian/changelog").read_text())[1]
    if packaged != project:
        yield f"debian/changelog: the version is {packaged}, and {project} in CMakeLists.txt"


def depends(tree):
    asked = {re.split(r"[ (]", item.strip())[0] for item in paragraphs(tree)[0]["Build-Depends"].split(",")}
    # Of debhelper itself; tools/package/build.sh needs more of it.
    asked = {name for name in asked if name != "debhelper-compat" and not name.startswith("dh-sequence-")}
    rows = [line.split() for line in (tree / "packages.txt").read_text().splitlines() if not line.startswith("#")]
    # Every Debian build has a compiler: build-essential must not be named.
    listed = {name for group, name in rows if group in ("build", "agent", "pcp", "python")} - {"g++"}
    for name in sorted(listed - asked):
        yield f"debian/control: {name} is missing in Build-Depends"
    for name in sorted(asked - listed):
        yield f"packages.txt: {name} of Build-Depends is in none of the groups build, agent, pcp and python"


def main():
    check = {"claims": claims, "symbols": symbols, "version": version, "depends": depends}[sys.argv[1]]
    differences = list(check(pathlib.Path(sys.argv[2]), *sys.argv[3:]))
    for difference in differences:
        print(difference)
    sys.exit(1 if differences else 0)


main()

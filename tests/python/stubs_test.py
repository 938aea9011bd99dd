# SPDX-License-Identifier: Apache-2.0
"""The stubs name what the extension has, no more and no less."""

import ast
import inspect
import os
import unittest

from meterbank import _meterbank

STUBS = os.path.join(os.path.dirname(_meterbank.__file__), "_meterbank.pyi")
# What every type or every named tuple has, and what protocols are made of.
OPEN = {"__init__", "__enter__", "__exit__", "__iter__", "__len__", "__getitem__", "__buffer__"}


def names_in_stubs(text):
    """{'': names of the module, 'Class': names of its members}, private ones left out."""
    names = {"": set()}
    bases = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            names[""].add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names[""].add(node.target.id)
        elif isinstance(node, ast.ClassDef):
            names[""].add(node.name)
            bases[node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]
            names[node.name] = {
                each.target.id if isinstance(each, ast.AnnAssign) else each.name
                for each in node.body if isinstance(each, (ast.AnnAssign, ast.FunctionDef))}
    for name, of in bases.items():
        for base in of:
            names[name] |= names.get(base, set())
    return names


def names_in_module():
    names = {"": set()}
    for name, value in vars(_meterbank).items():
        if name.startswith("__") or inspect.ismodule(value):
            continue
        names[""].add(name)
        if not inspect.isclass(value):
            continue
        known = set(dir(tuple)) if issubclass(value, tuple) else set(dir(object))
        if issubclass(value, Exception):
            known |= set(dir(Exception))
        fields = set(getattr(value, "_fields", getattr(value, "__match_args__", ())))
        names[name] = (set(dir(value)) - known) | fields
    return names


def differences(stubs, module):
    found = []
    for name in sorted(stubs[""] ^ module[""]):
        if not name.startswith("_"):
            found.append(name)
    for owner in sorted((set(stubs) & set(module)) - {""}):
        for name in sorted(stubs[owner] ^ module[owner]):
            is_open = name.startswith("_") or name in OPEN or name.startswith("n_")
            if not is_open:
                found.append(f"{owner}.{name}")
    return found


class Stubs(unittest.TestCase):
    def test_name_what_the_module_has(self):
        with open(STUBS, encoding="utf-8") as file:
            stubs = names_in_stubs(file.read())
        module = names_in_module()
        self.assertGreater(sum(map(len, module.values())), 100)
        self.assertEqual(differences(stubs, module), [])

    def test_finds_a_name_too_many_and_one_too_few(self):
        with open(STUBS, encoding="utf-8") as file:
            text = file.read()
        renamed = text.replace("def raise_to(self, value: int)", "def lift_to(self, value: int)")
        self.assertEqual(differences(names_in_stubs(renamed), names_in_module()),
                         ["BoundCounter.lift_to", "BoundCounter.raise_to"])

    def test_are_python_that_compiles(self):
        for name in ("_meterbank.pyi", "__init__.py"):
            with open(os.path.join(os.path.dirname(STUBS), name), encoding="utf-8") as file:
                compile(file.read(), name, "exec")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Good manifests satisfy the schemas for editors; changed in one place, they do not.

    schemas_test.py SCHEMAS MANIFEST...

M81: what the program takes, editors take too.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tomllib

import jsonschema

# What the negative controls change, and into what. Each file has one of them at least.
XML_FAULTS = [
    (' detailLevel="standard"', ""),
    ('detailLevel="standard"', 'detailLevel="high"'),
    ('type="perf_', 'type="perv_'),
    ('schemaVersion="', 'schemaVersion="1'),
    ('providerGuid="{', 'providerGuid="'),
    ('counterAttribute name="', 'counterAttribute name="x'),
    ('symbol="', 'symbol="0 '),
    ('id="1"', 'id="0x123456789"'),
    ('uri="', 'url="'),
]


def xml_is_valid(schemas, text):
    run = subprocess.run(
        ["xmllint", "--noout", "--nonet", "--schema", schemas / "manifest.xsd", "-"],
        input=text.encode(), capture_output=True, check=False)
    if run.returncode not in (0, 3):
        sys.exit(run.stderr.decode())
    return run.returncode == 0


def check_xml(schemas, path):
    text = path.read_text(encoding="utf-8")
    assert xml_is_valid(schemas, text), f"{path}: refused by manifest.xsd"
    begin = text.index("schemaVersion")
    faults = [(old, new) for old, new in XML_FAULTS if old in text[begin:]]
    assert len(faults) > 5, f"{path}: nothing to change"
    for old, new in faults:
        changed = text[:begin] + text[begin:].replace(old, new, 1)
        assert not xml_is_valid(schemas, changed), f"{path}: {new} is not refused"


def toml_faults(manifest):
    for table, key, value in [
        (lambda m: m, "counters", {}),
        (lambda m: m["provider"], "name", 1),
        (lambda m: m["provider"], "guid", "{5f0c1e2a}"),
        (lambda m: m["counterset"][0], "instances", "globalAggregate"),
        (lambda m: m["counterset"][0], "stamped", "true"),
        (lambda m: m["counterset"][0]["counter"][0], "id", -1),
        (lambda m: m["counterset"][0]["counter"][0], "type", "perf_counter_nodata"),
        (lambda m: m["counterset"][0]["counter"][0], "scale", 11),
        (lambda m: m["counterset"][0]["counter"][0], "attributes", ["reference", "reference"]),
        (lambda m: m["counterset"][0]["counter"][0], "buckets", {"least": 1}),
    ]:
        changed = copy.deepcopy(manifest)
        table(changed)[key] = value
        yield key, changed


def check_toml(validator, path):
    manifest = tomllib.loads(path.read_text(encoding="utf-8"))
    for error in validator.iter_errors(manifest):
        sys.exit(f"{path}: {'/'.join(map(str, error.path))}: {error.message}")
    for key, changed in toml_faults(manifest):
        assert not validator.is_valid(changed), f"{path}: a wrong {key} is not refused"


def main():
    schemas = pathlib.Path(sys.argv[1])
    schema = json.loads((schemas / "manifest.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    manifests = [pathlib.Path(name) for name in sys.argv[2:]]
    for path in manifests:
        if path.suffix == ".man":
            check_xml(schemas, path)
        else:
            check_toml(validator, path)
    assert {path.suffix for path in manifests} == {".man", ".toml"}
    print(f"{len(manifests)} manifests")


main()

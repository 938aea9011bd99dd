#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""manifests_test.py MANIFEST...

Checks Kubernetes manifests against the types of its API, as Debian's python3-kubernetes has them:
generated from the OpenAPI description of Kubernetes. No field may be unknown, of another type, or
missing. Then that what stands in a manifest fits together, and that faults put in on purpose are
found. Exit status 1: a fault; 77: the package is not installed.
"""
import copy
import datetime
import re
import sys

try:
    import yaml
    from kubernetes.client import models
except ImportError as missing:
    print(f"skipped: {missing}; install python3-kubernetes")
    sys.exit(77)

KINDS = {
    ("apps/v1", "Deployment"): "V1Deployment",
    ("apps/v1", "DaemonSet"): "V1DaemonSet",
    ("v1", "Pod"): "V1Pod",
}
PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float),
         "datetime": (str, datetime.datetime)}


class Fault(Exception):
    pass


def convert(value, kind, where):
    """The value as an object of the type that the API calls `kind`."""
    if kind == "object":  # of no particular type: a number or a string
        return value
    if kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or (kind != "bool" and isinstance(value, bool)):
            raise Fault(f"{where}: {value!r} is not of type {kind}")
        return value
    if inner := re.fullmatch(r"list\[(.+)\]", kind):
        if not isinstance(value, list):
            raise Fault(f"{where}: not a list")
        return [convert(each, inner[1], f"{where}[{at}]") for at, each in enumerate(value)]
    if not isinstance(value, dict):
        raise Fault(f"{where}: not a mapping")
    if inner := re.fullmatch(r"dict[\[(]str, (.+)[\])]", kind):
        return {key: convert(each, inner[1], f"{where}.{key}") for key, each in value.items()}
    model = getattr(models, kind)
    attributes = {name: attribute for attribute, name in model.attribute_map.items()}
    made = {}
    for key, each in value.items():
        if key not in attributes:
            raise Fault(f"{where}: {kind} has no field {key!r}")
        attribute = attributes[key]
        made[attribute] = convert(each, model.openapi_types[attribute], f"{where}.{key}")
    try:
        return model(**made)
    except ValueError as error:  # a required field is missing, or not one of those allowed
        raise Fault(f"{where}: {error}") from error


def template_of(document):
    spec = document["spec"]
    return spec["template"]["spec"] if "template" in spec else spec


def containers_of(document):
    spec = template_of(document)
    return spec.get("initContainers", []) + spec["containers"]


def check(document):
    kind = KINDS.get((document.get("apiVersion"), document.get("kind")))
    if kind is None:
        raise Fault(f"unknown: {document.get('apiVersion')} {document.get('kind')}")
    convert(document, kind, document["kind"])
    volumes = {volume["name"] for volume in template_of(document).get("volumes", [])}
    for container in containers_of(document):
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                raise Fault(f"container {container['name']}: no volume {mount['name']!r}")
        security = container["securityContext"]
        if security["allowPrivilegeEscalation"] or not security["readOnlyRootFilesystem"]:
            raise Fault(f"container {container['name']}: has more than it needs")
        if security["capabilities"]["drop"] != ["ALL"]:
            raise Fault(f"container {container['name']}: keeps capabilities")
    if "template" in document["spec"]:
        labels = document["spec"]["template"]["metadata"]["labels"]
        if document["spec"]["selector"]["matchLabels"] != labels:
            raise Fault("the selector does not match the labels")


def rename(mapping, old, new):
    mapping[new] = mapping.pop(old)


# Each changes a good manifest; all of them must be found.
FAULTS = [
    lambda d: rename(containers_of(d)[0], "securityContext", "securitycontext"),
    lambda d: rename(template_of(d), "containers", "container"),
    lambda d: rename(containers_of(d)[0]["securityContext"], "readOnlyRootFilesystem",
                     "readonlyRootFilesystem"),
    lambda d: template_of(d).update(hostPID="yes"),
    lambda d: template_of(d).update(hostPid=True),
    lambda d: template_of(d)["securityContext"].update(runAsUser="root"),
    lambda d: template_of(d)["securityContext"].update(supplementalGroups=65532),
    lambda d: containers_of(d)[0]["securityContext"]["capabilities"].update(drop="ALL"),
    lambda d: containers_of(d)[0]["securityContext"]["capabilities"].update(add=["ALL"], drop=[]),
    lambda d: containers_of(d)[0].pop("name"),
    lambda d: containers_of(d)[0].update(command="meterbank"),
    lambda d: containers_of(d)[0].update(volumeMounts=[{"name": "none", "mountPath": "/x"}]),
    lambda d: containers_of(d)[0].update(volumeMounts=[{"name": "none"}]),
    lambda d: d.update(apiVersion="apps/v2"),
    lambda d: d["metadata"].update(lables={}),
]


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            documents = list(yaml.safe_load_all(file))
        for document in documents:
            try:
                check(document)
            except Fault as fault:
                sys.exit(f"{path}: {fault}")
            for number, change in enumerate(FAULTS):
                changed = copy.deepcopy(document)
                change(changed)
                try:
                    check(changed)
                except (Fault, KeyError) as fault:
                    if isinstance(fault, Fault):
                        continue
                sys.exit(f"{path}: fault {number} was not found")
    print(f"{len(sys.argv) - 1} manifests, {len(FAULTS)} faults in each")


if len(sys.argv) < 2:
    sys.exit(__doc__)
main()

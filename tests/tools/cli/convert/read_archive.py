# SPDX-License-Identifier: Apache-2.0
"""Prints an archive of Performance Co-Pilot, as its own library reads it.

read_archive.py NAME           each value: time in microseconds, metric, instance, value; <mark> for a break
read_archive.py NAME metrics   each metric: name, identifier, type, semantics, units, domain, help
"""
import sys

SKIPPED = 77
try:
    import cpmapi
    from pcp import pmapi
except ImportError:
    print("skipped: needs the package python3-pcp")
    sys.exit(SKIPPED)


class Archive:
    def __init__(self, name):
        self.context = pmapi.pmContext(cpmapi.PM_CONTEXT_ARCHIVE, name)
        self.names = []
        self.context.pmTraversePMNS("meterbank", self.names.append)
        self.names.sort()
        self.id_array = self.context.pmLookupName(self.names)
        self.ids = list(self.id_array)
        self.descriptions = {identifier: self.context.pmLookupDesc(identifier) for identifier in self.ids}
        self.name_of = dict(zip(self.ids, self.names))

    def metrics(self):
        """(name, identifier, type, semantics, units, domain, help), by name."""
        for name, identifier in zip(self.names, self.ids):
            one = self.descriptions[identifier].contents
            try:
                text = self.context.pmLookupText(identifier).decode()
            except pmapi.pmErr:
                text = ""
            yield (name, identifier, one.type, one.sem, str(one.units), one.indom, text)

    def records(self):
        """Record by record: microseconds, and (metric, instance) -> value. None: a break."""
        zero = pmapi.timeval(0, 0)
        self.context.pmSetMode(cpmapi.PM_MODE_FORW, zero, 0)
        while True:
            try:
                result = self.context.pmFetchArchive()
            except pmapi.pmErr as error:
                if error.args[0] == cpmapi.PM_ERR_EOL:
                    return
                raise
            one = result.contents
            time = one.timestamp.tv_sec * 1_000_000 + one.timestamp.tv_usec
            yield time, self.values(one) if one.numpmid else None
            self.context.pmFreeResult(result)

    def interpolate(self, first_us):
        """As pmval and pmrep read it, which are stricter about how values are stored."""
        start = pmapi.timeval(first_us // 1_000_000, first_us % 1_000_000)
        self.context.pmSetMode(cpmapi.PM_MODE_INTERP, start, 1000)
        for _ in range(3):
            try:
                self.context.pmFreeResult(self.context.pmFetch(self.id_array))
            except pmapi.pmErr as error:
                if error.args[0] == cpmapi.PM_ERR_EOL:
                    return
                raise

    def values(self, result):
        values = {}
        for index in range(result.numpmid):
            identifier = result.get_pmid(index)
            described = self.descriptions[identifier]
            kind = described.contents.type
            for place in range(max(result.get_numval(index), 0)):
                atom = self.context.pmExtractValue(result.get_valfmt(index), result.get_vlist(index, place),
                                                   kind, kind)
                instance = self.context.pmNameInDomArchive(described, result.get_inst(index, place))
                value = atom.dref(kind)
                key = (self.name_of[identifier], instance)
                if key in values:
                    sys.exit(f"two values of {key} in one record")
                values[key] = value.decode() if isinstance(value, bytes) else value
        return values


def main():
    archive = Archive(sys.argv[1])
    if len(sys.argv) > 2:
        for metric in archive.metrics():
            print(*map(repr, metric))
        return
    first = None
    for time, values in archive.records():
        first = first or time
        if values is None:
            print("<mark>")
        for (metric, instance), value in sorted((values or {}).items()):
            print(time, metric, repr(instance), repr(value))
    archive.interpolate(first)


if __name__ == "__main__":
    main()

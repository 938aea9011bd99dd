# SPDX-License-Identifier: Apache-2.0
"""The grammar of OpenMetrics 2.0.0-rc0, written down from its ABNF apart from our writer. No program of
Debian 12 reads this version. Names that need quotes are left out, because the agent has none."""

import re

REAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
NUMBER = rf"(?:{REAL}|[+-]?(?:[Ii][Nn][Ff](?:[Ii][Nn][Ii][Tt][Yy])?)|[Nn][Aa][Nn])"
INTEGER = r"[+-]?\d+"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
ESCAPED = r'(?:[^\n"\\]|\\.)*'
LABEL = rf'[a-zA-Z_][a-zA-Z0-9_]*="{ESCAPED}"'
LABELS = rf"\{{(?:{LABEL}(?:,{LABEL})*)?\}}"


def list_of(name, item, least=0):
    items = rf"{item}(?:,{item})*"
    return rf"{name}:\[({items if least else f'(?:{items})?'})\]"


SPAN = rf"{INTEGER}:\+?0*[1-9]\d*"
NATIVE = (rf"schema:({INTEGER}),zero_threshold:({REAL}),zero_count:({NUMBER})"
          rf"(?:,{list_of('negative_spans', SPAN)},{list_of('negative_buckets', NUMBER)})?"
          rf"(?:,{list_of('positive_spans', SPAN)},{list_of('positive_buckets', NUMBER)})?")
CLASSIC = rf"bucket:\[((?:(?:-Inf|{REAL}):{NUMBER},)*\+Inf:{NUMBER})\]"
HISTOGRAM = re.compile(rf"\{{g?count:({NUMBER}),g?sum:({NUMBER}),(?:{CLASSIC}|{NATIVE}(?:,{CLASSIC})?)\}}")
SUMMARY = re.compile(rf"\{{count:({NUMBER}),sum:({NUMBER}),"
                     rf"{list_of('quantile', f'{REAL}:{NUMBER}')}\}}")
SAMPLE = re.compile(rf"({NAME})({LABELS})? ({NUMBER}|\{{[^ ]*\}})(?: ({REAL}))?(?: st@({REAL}))?")
DESCRIPTOR = re.compile(rf'# (TYPE|UNIT|HELP) ({NAME}) (.*)')
TYPES = ("counter", "gauge", "histogram", "gaugehistogram", "stateset", "info", "summary", "unknown")


class NotOpenMetrics(ValueError):
    pass


def require(is_true, line):
    if not is_true:
        raise NotOpenMetrics(line)


def unescape(text):
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def labels_of(text):
    pairs = re.findall(rf'([a-zA-Z_][a-zA-Z0-9_]*)="({ESCAPED})"', text or "")
    return {name: unescape(value) for name, value in pairs}


def numbers_of(text):
    return [float(number) for number in text.split(",")] if text else []


def native_buckets(schema, spans, counts):
    """Upper ends and counts. An offset counts from the end of the span before, the first one from 0."""
    buckets, index, place = [], 0, 0
    spans = [[int(part) for part in span.split(":")] for span in spans.split(",")] if spans else []
    if sum(length for _, length in spans) != len(counts):
        raise NotOpenMetrics(f"{spans} have not {len(counts)} buckets")
    for offset, length in spans:
        index += offset
        for _ in range(length):
            # Beyond the largest double there is one more, the bucket of infinity.
            exponent = index * 2.0**-schema
            buckets.append((2.0**exponent if exponent < 1024 else float("inf"), counts[place]))
            index += 1
            place += 1
    return buckets


def histogram_of(text, line):
    match = HISTOGRAM.fullmatch(text)
    require(match, line)
    count, total, classic, schema, threshold, zero, _, _, spans, counts, both = match.groups()
    value = {"count": float(count), "sum": float(total)}
    if schema is not None:
        value["schema"] = int(schema)
        require(-4 <= value["schema"] <= 8, line)
        value["zero"] = (float(threshold), float(zero))
        value["native"] = native_buckets(int(schema), spans, numbers_of(counts))
        require(value["count"] == float(zero) + sum(number for _, number in value["native"])
                or match[7] is not None, line)
    if classic or both:
        value["classic"] = [tuple(float(part) for part in bucket.split(":"))
                            for bucket in (classic or both).split(",")]
        require(value["classic"][-1] == (float("inf"), value["count"]), line)
    return value


def value_of(kind, text, line):
    if kind in ("histogram", "gaugehistogram"):
        return histogram_of(text, line)
    if kind == "summary":
        match = SUMMARY.fullmatch(text)
        require(match, line)
        return {"count": float(match[1]), "sum": float(match[2])}
    require(re.fullmatch(NUMBER, text), line)
    return float(text)


def parse(text):
    """Type and samples of each family; a sample has labels, a value, and since when it grows."""
    lines = text.split("\n")
    require(lines[-2:] == ["# EOF", ""] or lines[-1] == "# EOF", "the end")
    lines = lines[:lines.index("# EOF")]
    families, described = {}, {}
    last = None
    for line in lines:
        if line.startswith("#"):
            match = DESCRIPTOR.fullmatch(line)
            require(match, line)
            word, name, rest = match.groups()
            require(name == last or name not in families, line)
            known = described.setdefault(name, {})
            require(word not in known and not families.get(name), line)
            require(word != "TYPE" or rest in TYPES, line)
            known[word] = rest
            families.setdefault(name, [])
            last = name
            continue
        match = SAMPLE.fullmatch(line)
        require(match, line)
        name, labels, value, _, start = match.groups()
        require(name == last or name not in families, line)
        last = name
        kind = described.get(name, {}).get("TYPE", "unknown")
        require(start is None or kind in ("counter", "histogram", "summary"), line)
        require(kind != "info" or name.endswith("_info"), line)
        sample = (labels_of(labels), value_of(kind, value, line),
                  None if start is None else float(start))
        require(all(sample[0] != other[0] for other in families.setdefault(name, [])), line)
        families[name].append(sample)
    return {name: (described.get(name, {}).get("TYPE", "unknown"), samples)
            for name, samples in families.items()}

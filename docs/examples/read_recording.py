# SPDX-License-Identifier: Apache-2.0
"""Prints all samples of recordings: python3 read_recording.py FILE...

A line is: seconds since 1970, provider, set/instance/counter, stored value, with tabs between. Nothing of meterbank
is needed: docs/recording.md describes the format. It stops where a frame is damaged or not finished."""

import collections, io, json, math, struct, sys, types, zlib

class Payload(io.BytesIO):
    def number(self):
        value = shift = 0
        while True:
            byte = self.read(1)[0]
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    def numbers(self, count):
        return [self.number() for _ in range(count)]
    def difference(self):
        number = self.number()
        return number >> 1 ^ -(number & 1)
    def text(self):
        return self.read(self.number())

def frames_of(data):
    place = 0
    while place + 9 <= len(data):
        size, crc, kind = struct.unpack_from("<IIc", data, place)
        begin, place = place + 8, place + 9 + size
        if place > len(data) or zlib.crc32(data[begin:place]) != crc:
            return  # the end, or damaged
        yield kind, Payload(data[begin + 1:place])

def signed(number):  # all words are kept like this
    return (number + 2**63) % 2**64 - 2**63
def memory(form=0):  # of a word of a row, and of a word of the row above
    return types.SimpleNamespace(age=0, step=0, mean=0, unit=0, whole=0, lengths=[], past=0, form=form, number=0,
                                 peer=0, word=0, length=2048, length_to_above=2048)
def follow(length, residual, shift):
    return length + ((abs(signed(residual)).bit_length() << 8) - length >> shift)
def quotient(number, unit):
    return number // unit if number >= 0 else -(-number // unit)
def number_of(bits, form):
    if form == 7:
        return ~bits if bits < 0 else bits - 2**63
    scaled = struct.unpack("<d", struct.pack("<q", bits))[0] * 10.0**form
    return int(scaled + (-0.5 if scaled < 0 else 0.5)) if abs(scaled) < 2.0**53 else 0
def bits_of(number, form):
    if form == 7:
        return number + 2**63 if number < 0 else ~number
    return struct.unpack("<q", struct.pack("<d", number / 10.0**form))[0]

class RowDecoder:
    def __init__(self):
        self.bits = collections.defaultdict(lambda: [2**21, 0])
        self.symbols = collections.defaultdict(lambda: [2048 * each for each in range(17)] + [0])
        self.numbers = collections.defaultdict(lambda: [0, memory()])
        self.columns, self.above, self.next_number = None, None, 1

    def begin_tick(self, data):
        self.data, self.range = Payload(data + bytes(12)), 2**64 - 1
        self.code = int.from_bytes(self.data.read(8), "big")
        self.moves, self.by_difference = {}, {}

    def narrow(self, begin, size):
        self.code, self.range = self.code - begin, size
        if size < 2**32:
            self.code, self.range = self.code << 32 | int.from_bytes(self.data.read(4), "big"), size << 32

    def bit(self, *name):
        model = self.bits[name]
        ones = (self.range >> 16) * max(model[0] >> 6, 1)
        bit = self.code < ones
        self.narrow(0 if bit else ones, ones if bit else self.range - ones)
        move = (2**22 - 1 - model[0] if bit else model[0]) // 8 * (2**14 // (2 * model[1] + 3)) >> 10
        model[:] = model[0] + (move if bit else -move), min(model[1] + 1, 255)
        return bit

    def symbol(self, *name):
        model, share, symbol = self.symbols[name], self.range >> 15, 0
        while model[symbol + 1] <= self.code // share:
            symbol += 1
        self.narrow(share * model[symbol], share * (model[symbol + 1] - model[symbol]))
        shift = min(((model[17] + 2) * 3 // 4).bit_length(), 7)
        for each in range(1, 16):
            model[each] += each + (2**15 - 16 if each > symbol else 0) - model[each] >> shift
        model[17] = min(model[17] + 1, 255)
        return symbol

    def text(self, size):
        text = [0]
        for _ in range(size):
            high = self.symbol("text", text[-1] >> 5, 16)
            text.append(high << 4 | self.symbol("text", text[-1] >> 5, high))
        return bytes(text[1:])

    def number(self, context):
        number = self.numbers[context]
        number[0] += self.difference("number", *number, False, memory())
        return number[0]

    def row(self, columns, row):
        if columns[:63] != self.columns:
            self.columns, self.above = columns[:63], collections.defaultdict(memory)
        changed = self.bit("row", row.past)
        row.past = row.past << 1 & 7 | changed
        some = before = False
        for begin in range(0, len(columns) if changed else 0, 8):
            end, past = min(begin + 8, len(columns)), row.groups[begin]
            changed = not some and end == len(columns) or self.bit("group", columns[begin] == "bucket", past, before)
            row.groups[begin] = past << 1 & 7 | changed
            before, some, moved = changed, some or changed, False
            for place in range(begin, end if changed else begin):
                value = self.word(columns[place], row.last[place], row.words, place, moved)
                row.last[place], moved = value, value != row.last[place]

    def word(self, column, last, words, place, moved):
        if column == "text":
            return int.from_bytes(self.text(8), "little", signed=True)
        if column == "real" and self.bit("form", words[place].form):
            words[place] = memory(self.symbol("forms"))
        word, above = words[place], self.above[min(place, 63)]
        last = number_of(last, word.form) if column == "real" else last
        value = signed(last + self.difference(column, last, word, moved, above))
        return bits_of(value, word.form) if column == "real" else value

    def difference(self, column, last, word, moved, above):
        has_peer, is_first, peer = column not in ("bucket", "number"), word.age == 0, None
        if has_peer and not is_first:
            word.peer = word.peer or above.number
            peer = self.moves.get(word.peer)
        difference = self.first(last, word, moved, above) if is_first else self.later(column, word, moved, peer)
        if has_peer and difference:
            if not word.number:
                word.number, self.next_number = self.next_number, self.next_number % (2**14 - 1) + 1
            key = difference * 0x9e3779b97f4a7c15 % 2**64 >> 52
            alike = self.by_difference.get(key)
            is_alike = alike != word.number and self.moves.get(alike) == difference != peer
            if is_alike and abs(difference) > 16:
                word.peer = alike
            self.by_difference[key], self.moves[word.number] = word.number, difference
            above.number, above.word = word.number, signed(last + difference)
        return difference

    def first(self, last, word, moved, above):
        to_above, is_like_above = above.word - last, above.length_to_above < above.length
        length, base = (above.length_to_above, to_above) if is_like_above else (above.length, 0)
        difference = signed(base + self.residual("first", length, not is_like_above, moved, memory()))
        above.length = follow(above.length, difference, 3)
        above.length_to_above = follow(above.length_to_above, difference - to_above, 3)
        word.lengths, word.age = [1024, 1280, 1280, 1280], 1
        return difference

    def later(self, column, word, moved, peer):
        unit, unit_before = 1, word.unit
        if unit_before > 1 and self.bit("whole", word.whole):
            unit, word.whole = unit_before, min(word.whole + 1, 15)
        elif unit_before > 1:
            word.whole, word.step, word.mean = 0, signed(word.step * unit_before), signed(word.mean * unit_before)
            word.lengths = [min(each + (unit_before.bit_length() - 1 << 8), 64 << 8) for each in word.lengths]
        steps = [0, word.step, word.mean] + ([] if peer is None else [quotient(peer, unit)])
        way = min(range(len(steps)), key=lambda each: word.lengths[each])
        residual = self.residual("peer" if way == 3 else column, word.lengths[way], way == 0, moved, word)
        step = signed(steps[way] + residual)
        for each, predicted in enumerate(steps):
            word.lengths[each] = follow(word.lengths[each], step - predicted, word.age)
        word.age, word.step = min(word.age + 1, 3), step
        word.mean = signed(word.mean + (signed(step - word.mean) >> 2))
        difference = signed(step * unit)
        if unit_before == 0 and column in ("integer", "real") and difference or unit_before > 1 and unit == 1:
            word.unit = math.gcd(unit_before, difference)
            word.step, word.mean = quotient(word.step, word.unit), quotient(word.mean, word.unit)
            word.lengths = [max(each - (word.unit.bit_length() - 1 << 8), 0) for each in word.lengths]
        return difference

    def residual(self, kind, length, is_difference, moved, word):
        halves, usual = min(length >> 7, 24 + (length >> 7) % 2), length + 128 >> 8
        token = self.symbol("token", kind, halves, word.past & 3, moved)
        word.past = word.past & 12 | word.past << 1 & 2 | (token == 0)
        if token == 0:
            return 0
        width = max(usual - 6, 1) + token - 1
        if token == 15:
            width = (high := self.symbol("wide", 16)) << 4 | self.symbol("wide", high)
        relation, top = (width > usual) - (width < usual), min(width - 1, 3)
        head = self.symbol("head", relation, is_difference, min(width, 8), word.past >> 2)
        value, left = 1 << top | head & (1 << top) - 1, width - 1 - top
        while left > 0:
            count = min(left, 16)
            part = self.code // (self.range >> count)
            self.narrow(part * (self.range >> count), self.range >> count)
            value, left = value << count | part, left - count
        value = signed(-value if head >> 3 else value)
        word.past = word.past & 3 | word.past << 1 & 8 | (value < 0) << 2
        return value

def unpacked(payload):
    size, coder = payload.number(), RowDecoder()
    coder.begin_tick(payload.text())
    return coder.text(size)

class Schema:
    def __init__(self, payload):
        _, _, words = payload.read(16), *payload.numbers(2)
        self.bytes = unpacked(payload)
        self.name, more, self.columns, self.counters = self.text(56), self.at(4), ["integer"] * words, []
        for index in range(self.at(4)):
            record = 96 + index * self.at(8)
            form, size, is_timed = self.at(record + 44), self.at(record + 80), self.at(record + 84) & 1
            end, is_narrow = more + size - is_timed, form == 0 and self.at(record + 4) & 0x300 == 0
            kinds = {3: ["text"] * (end - more), 4: ["real"] * 3 + ["bucket"] * (end - more - 3)}
            self.columns[index] = "real" if form == 2 else "integer"
            self.columns[more:end + is_timed] = kinds.get(form, self.columns[more:end]) + ["time"] * is_timed
            first = signed(self.at(record + 92) << 32) >> 32
            if self.at(record + 60):  # others have no symbol: bases
                self.counters.append((self.text(record + 56), index, form, is_narrow, more, end, first))
            more += size
        if self.at(80) & 1:
            self.columns[-1] = "time"

    def at(self, offset):
        return struct.unpack_from("<I", self.bytes, offset)[0]

    def text(self, offset):
        return self.bytes[self.at(offset):self.at(offset) + self.at(offset + 4)].decode()

    def values(self, words):
        for name, index, form, is_narrow, more, end, first in self.counters:
            value = words[index] if form == 1 else words[index] % (2**32 if is_narrow else 2**64)
            if form == 2:
                value = struct.unpack("<d", struct.pack("<q", words[index]))[0]
            elif form == 3:
                text = struct.pack(f"<{end - more}q", *words[more:end])[:value]
                value = json.dumps(text.decode(errors="replace"), ensure_ascii=False)
            elif form == 4:
                buckets = enumerate(words[more + 6:end], first)
                value = " ".join([str(value)] + [f"{each}:{count}" for each, count in buckets if count])
            yield name, value

class Chunk:
    def __init__(self):
        self.providers, self.sets, self.coder, self.step = {}, {}, RowDecoder(), 0

    def take(self, kind, payload, schemas):
        if kind == b"K":
            _, _, self.time, _, due, _ = payload.read(8), *payload.numbers(5)
            _, section = payload.text(), Payload(unpacked(payload))
        else:
            self.step += payload.difference()
            self.time += self.step + payload.difference()
            _, due, section = *payload.numbers(2), Payload(payload.text())
        for _ in range(section.number()):
            self.event(section.number(), section.number(), section, schemas)
        self.coder.begin_tick(payload.read())
        seconds = f"{self.time // 10**9}.{self.time % 10**9:09}"
        for _, one in sorted(self.sets.items()):
            for _, row in sorted(one.rows.items()) if one.rate and due >> one.rate - 1 & 1 else ():
                if self.coder.bit("flag", 0):
                    row.status, _ = self.coder.number(1), self.coder.number(2)
                if row.status in (0, 1, 4, 5):  # fresh, checkpoint, closed, dead
                    self.coder.row(one.schema.columns, row)
                    for name, value in one.schema.values(row.last):
                        path = "/".join(filter(None, (one.schema.name, row.name, name)))
                        print(seconds, self.providers[one.provider], path, value, sep="\t")

    def event(self, event, index, section, schemas):
        if event == 1:  # a provider
            facts = Payload(section.text())
            name, (pid, pid_here) = facts.text().decode(), facts.numbers(2)
            self.providers[index] = f"{name}@{pid_here or pid}"
        elif event in (2, 4):  # a provider or a set is gone
            self.sets = {each: one for each, one in self.sets.items()
                         if index not in ((one.provider,) if event == 2 else (each, one.of))}
        elif event in (3, 6):  # a set, or the rows that its callback gave
            of, schema, *_, rate = section.numbers(8 if event == 3 else 4)
            one = self.sets.setdefault(index, types.SimpleNamespace(rows={}))
            one.provider, one.of = (of, None) if event == 3 else (self.sets[of].provider, of)
            one.schema, one.rate = schemas[schema], rate if event == 3 else rate + 1
        elif event == 5:  # rows that ended, and that began
            one, slot = self.sets[index], 0
            for _ in range(section.number()):
                slot += section.number()
                del one.rows[slot]
            slot, words = 0, len(one.schema.columns)
            for _ in range(section.number()):
                slot += section.numbers(4)[0]
                one.rows[slot] = types.SimpleNamespace(
                    name=section.text().decode(), status=0, past=0, last=[0] * words, groups=[0] * words,
                    words=[memory() for _ in range(words)])

for file in sys.argv[1:]:
    schemas, chunk = {}, None
    for kind, payload in frames_of(open(file, "rb").read()):
        if kind == b"H":
            assert payload.read(8)[7:] == b"H" and payload.number() == 1, "not of format 1"
        elif kind == b"S":
            schemas.setdefault(payload.number(), Schema(payload))
        elif kind in (b"K", b"T"):
            chunk = Chunk() if kind == b"K" else chunk
            chunk.take(kind, payload, schemas)

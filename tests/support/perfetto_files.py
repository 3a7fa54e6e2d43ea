"""A decoder of Perfetto's files that shares nothing with the writer: https://protobuf.dev/programming-guides/encoding."""


def fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """Fields of a message: number and value."""
    found, at = [], 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value += (byte % 128) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key % 8 == 0:
            found.append((key // 8, varint()))
        else:
            length = {1: 8, 5: 4}.get(key % 8) or varint()
            assert at + length <= len(data)
            found.append((key // 8, data[at:at + length]))
            at += length
    return found


class Trace:
    """Contents of a file. tracks: number -> (name, names of the groups around it); events: (type, track, cycle, name,
    category, arguments, flows that begin, flows that end, counter value), in the order of the file."""

    def __init__(self, data: bytes):
        self.tracks, self.events, names, parents = {}, [], {}, {}
        for number, packet in fields(data):
            assert number == 1
            packet = fields(packet)
            one = dict(packet)
            assert one[10] == 1
            if 60 in one:
                track = dict(fields(one[60]))
                parents[track[1]] = track.get(5)
                groups = [] if 5 not in track else [self.tracks[track[5]][0], *self.tracks[track[5]][1]]
                self.tracks[track[1]] = track[2].decode(), tuple(groups)
            for kind, entry in fields(one.get(12, b"")):
                entry = dict(fields(entry))
                names[kind, entry[1]] = entry[2].decode()
            if 11 in one:
                event = dict(fields(one[11]))
                args = {}
                for key, annotation in fields(one[11]):
                    if key == 4:
                        (label, name), (form, value) = fields(annotation)
                        assert label == 1
                        args[names[3, name]] = {2: bool, 4: int, 6: lambda v: v.decode()}[form](value)
                name = event[23].decode() if 23 in event else names[2, event[10]] if 10 in event else ""
                self.events.append((event[9], event[11], one[8], name, names[1, event[3]] if 3 in event else "", args,
                                    event.get(47), event.get(48), event.get(30)))

    def slices(self) -> list[tuple]:
        """(track, first cycle, cycle after the last, name, category, arguments), checked to nest."""
        found, open_ = [], {}
        for kind, track, cycle, name, category, args, *_ in sorted(self.events, key=lambda e: e[2]):
            if kind == 1:
                open_.setdefault(track, []).append((cycle, name, category, args))
            elif kind == 2:
                start, name, category, first = open_[track].pop()
                found.append((track, start, cycle, name, category, first | args))
        assert not any(open_.values())
        return found

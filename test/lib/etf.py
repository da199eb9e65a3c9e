"""etf - Erlang's external term format, for tests that speak with the port program.

    encode((Atom("request"), 1, Atom("go")))        # bytes, version byte included
    decode(bytes)                                   # the term

int, float, tuple, list and dict are themselves; bytes and str are binaries (str in UTF-8), Atom an atom. Binaries come back as
bytes, atoms as Atom, which is a str, true and false as bool. Pids, references and the like come back as Opaque, their bytes.
"""
import struct


class Atom(str):
    """An atom; equal to the str of the same letters."""

    def __repr__(self):
        return "'" + str(self) + "'"


class Opaque(bytes):
    """A term that has no representation here."""


def encode(term):
    return b"\x83" + _put(term)


def _put(t):
    if isinstance(t, Opaque):
        return bytes(t)
    if isinstance(t, bool):
        return _put(Atom("true" if t else "false"))
    if isinstance(t, Atom):
        name = t.encode()
        return b"\x77" + bytes([len(name)]) + name
    if isinstance(t, int):
        if 0 <= t < 256:
            return b"\x61" + bytes([t])
        if -(1 << 31) <= t < 1 << 31:
            return b"\x62" + struct.pack(">i", t)
        size = (abs(t).bit_length() + 7) // 8
        head = b"\x6e" + bytes([size]) if size < 256 else b"\x6f" + struct.pack(">I", size)
        return head + bytes([t < 0]) + abs(t).to_bytes(size, "little")
    if isinstance(t, float):
        return b"\x46" + struct.pack(">d", t)
    if isinstance(t, str):
        t = t.encode()
    if isinstance(t, (bytes, bytearray)):
        return b"\x6d" + struct.pack(">I", len(t)) + bytes(t)
    if isinstance(t, tuple):
        head = b"\x68" + bytes([len(t)]) if len(t) < 256 else b"\x69" + struct.pack(">I", len(t))
        return head + b"".join(_put(x) for x in t)
    if isinstance(t, list):
        return (b"\x6c" + struct.pack(">I", len(t)) + b"".join(_put(x) for x in t) if t else b"") + b"\x6a"
    if isinstance(t, dict):
        return b"\x74" + struct.pack(">I", len(t)) + b"".join(_put(k) + _put(v) for k, v in t.items())
    raise TypeError(type(t))


def decode(data):
    if data[:1] != b"\x83":
        raise ValueError("no term")
    term, at = _get(data, 1)
    if at != len(data):
        raise ValueError("more than a term")
    return term


def _number(data, at, form):
    size = struct.calcsize(form)
    return struct.unpack(form, data[at:at + size])[0], at + size


def _some(data, at, n):
    items = []
    for _ in range(n):
        item, at = _get(data, at)
        items.append(item)
    return items, at


def _get(data, at):
    tag, start = data[at], at
    at += 1
    if tag == 97:
        return data[at], at + 1
    if tag == 98:
        return _number(data, at, ">i")
    if tag == 70:
        return _number(data, at, ">d")
    if tag in (110, 111):
        n, at = _number(data, at, ">B" if tag == 110 else ">I")
        v = int.from_bytes(data[at + 1:at + 1 + n], "little")
        return (-v if data[at] else v), at + 1 + n
    if tag in (118, 119, 100, 115):
        n, at = _number(data, at, ">B" if tag in (119, 115) else ">H")
        name = data[at:at + n].decode("utf-8" if tag in (118, 119) else "latin-1")
        return {"true": True, "false": False}.get(name, Atom(name)), at + n
    if tag == 109:
        n, at = _number(data, at, ">I")
        return bytes(data[at:at + n]), at + n
    if tag == 107:
        n, at = _number(data, at, ">H")
        return list(data[at:at + n]), at + n
    if tag in (104, 105):
        n, at = _number(data, at, ">B" if tag == 104 else ">I")
        items, at = _some(data, at, n)
        return tuple(items), at
    if tag == 106:
        return [], at
    if tag == 108:
        n, at = _number(data, at, ">I")
        items, at = _some(data, at, n)
        tail, at = _get(data, at)
        if not isinstance(tail, list):
            raise ValueError("an improper list")
        return items + tail, at  # what follows may be a list of its own
    if tag == 116:
        n, at = _number(data, at, ">I")
        items, at = _some(data, at, 2 * n)
        return dict(zip(items[::2], items[1::2])), at
    if tag in (88, 90):  # pid: node, 12 bytes; reference: count, node, creation, words
        words = 0
        if tag == 90:
            words, at = _number(data, at, ">H")
        _, at = _get(data, at)
        at += 12 if tag == 88 else 4 + 4 * words
        return Opaque(data[start:at]), at
    raise ValueError(f"tag {tag}")

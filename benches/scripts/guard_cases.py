# SPDX-License-Identifier: Apache-2.0
"""The fixed script of requests whose cost `guard.py` counts.

A case is a *step* that is done again and again: one request, or a few that belong together and leave
things as they found them. So many steps are sent at once as the depth says. Requests and replies are
templates, one line each, for one of 256 keys at a time:

    {text}          a key of 20 bytes, which begins with this word; {text+3} is the third after it
    {v}, {V}        a value of 64 bytes, of 1 KiB
    {w}, {W}        the same, another one the next time that it is the turn of this key
    {v16}, {w16}    the same of 16 KiB, and so with other numbers of KiB
    {fresh}         a key that was never used before
    {n}             a number that is larger by one the next time

Lines of memcache are sent as they are. Words of a RESP request are its arguments, in which ~ is a space and | a line
end. Lines of a RESP reply that begin with +, :, * or $ are sent as they are, others are bulk strings. A line of binary
memcache is a frame: its opcode, the key of a request, the value.
"""
import dataclasses, hashlib, re, struct

KEYS = 256
NUMBER = 1_000_000
SMALL, LARGE = 64, 1024


@dataclasses.dataclass(frozen=True)
class Case:
    """One line of the baseline."""

    name: str
    depth: int
    request: str
    reply: str
    wire: str  # lines, resp or frames
    laps: int = 1  # over all keys, to fill a server

    def step(self, number, lap):
        """The bytes of the request about this key, which has had so many turns before, and of the reply."""
        request, reply = fill_in(self.request, number, lap), fill_in(self.reply, number, lap)
        if self.wire == "lines":
            return crlf(request), crlf(reply)
        if self.wire == "frames":
            return frames(request, 0x80), frames(reply, 0x81)
        commands = [line.split() for line in request.splitlines()]
        return b"".join(map(command, commands)), b"".join(map(element, reply.splitlines()))


@dataclasses.dataclass(frozen=True)
class Script:
    """A server, what it is filled with, and its cases."""

    binary: str
    cases: list[Case]
    filling: list[Case] = dataclasses.field(default_factory=list)
    config: str = ""
    listeners: int = 1  # of which the last is used


def key(word, number):
    return f"{word}:{number % KEYS:0{19 - len(word)}}"


def fill_in(template, number, lap):
    """
    >>> fill_in("incr {hits} {n}, {w}", 7, 1) == "incr hits:000000000000007 1000001, " + 64 * "w"
    True
    """
    values = {"v": "v" * SMALL, "V": "v" * LARGE, "n": NUMBER + lap}
    values |= {"w": "vw"[lap % 2] * SMALL, "W": "vw"[lap % 2] * LARGE}
    values["fresh"] = f"fresh:{lap * KEYS + number:014}"

    def word(found):
        name, more = found.groups(default=0)
        if large := re.fullmatch(r"([vw])(\d+)", name):
            return values[large[1]][0] * 1024 * int(large[2])
        return str(values[name]) if name in values else key(name, number + int(more))

    return re.sub(r"\{(\w+)(?:\+(\d+))?\}", word, template)


def crlf(lines):
    return b"".join(line.encode() + b"\r\n" for line in lines.splitlines())


OPCODES = {"Get": 0x00, "Set": 0x01, "GetQ": 0x09, "Noop": 0x0A, "SetQ": 0x11}
HEADER = struct.Struct(">BBHBBHI12x")


def frames(lines, magic):
    """
    >>> frames("Set k v", 0x80) == b"\\x80\\1\\0\\1\\x08\\0\\0\\0\\0\\0\\0\\x0a" + bytes(20) + b"kv"
    True
    >>> frames("Get v", 0x81) == b"\\x81\\0\\0\\0\\4\\0\\0\\0\\0\\0\\0\\5" + bytes(16) + b"v"
    True
    """
    made = []
    for name, *words in map(str.split, lines.splitlines()):
        is_request = magic == 0x80
        extras = {"Set": 8, "SetQ": 8}.get(name, 0) if is_request else {"Get": 4, "GetQ": 4}.get(name, 0)
        key, body = len(words[0]) if is_request and words else 0, bytes(extras) + "".join(words).encode()
        made.append(HEADER.pack(magic, OPCODES[name], key, extras, 0, 0, len(body)) + body)
    return b"".join(made)


def without_versions(reply):
    """The reply with zeros for the CAS numbers of its frames, if it is made of frames."""
    reply, at = bytearray(reply), 0
    while reply[at : at + 1] == b"\x81" and len(reply) >= at + HEADER.size:
        reply[at + 16 : at + 24] = bytes(8)
        at += HEADER.size + HEADER.unpack_from(reply, at)[-1]
    return reply


def command(words):
    """
    >>> command(["GET", "a~b"])
    b'*2\\r\\n$3\\r\\nGET\\r\\n$3\\r\\na b\\r\\n'
    """
    words = [word.replace("~", " ").replace("|", "\n") for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)


def element(line):
    if line[0] in "+:*$":
        return crlf(line)
    return b"$%d\r\n%s\r\n" % (len(line), line.encode())


def cases(prefix, wire, rows):
    return [
        Case(f"{prefix} {name}, depth {depth}", depth, request, reply, wire)
        for name, depths, request, reply in rows
        for depth in depths
    ]


def several(template, count):
    """The template so many times, as words or lines, with # for a number."""
    return [template.replace("#", str(number)) for number in range(count)]


def often(cases):
    """The same, so often that they fill the memory of a server that is to evict."""
    return [dataclasses.replace(case, laps=FULL) for case in cases]


PINGSERVER = [("PING", (1, 32), "PING", "PONG")]

FOUND = "VALUE {text} 0 64\n{v}\n"
MEMCACHE_FILLING = [
    ("text", (32,), "set {text} 0 0 64\n{v}", "STORED"),
    ("large", (8,), "set {large} 0 0 1024\n{V}", "STORED"),
    ("counter", (32,), "set {counter} 0 0 7\n{n}", "STORED"),
]
# Shards lease memory by chance, and a hash table prefetches once 2 MiB are leased: with this it always does.
HASHMAP_FILLING = [
    *MEMCACHE_FILLING,
    *((f"more {word}", (8,), f"set {{more{word}}} 0 0 1024\n{{V}}", "STORED") for word in "abcdefghijklmnop"),
]
MEMCACHE = [
    ("get hit", (1, 32), "get {text}", FOUND + "END"),
    ("get miss", (32,), "get {nothing}", "END"),
    ("set overwrite", (1, 32), "set {written} 0 0 64\n{w}", "STORED"),
]
MORE_MEMCACHE = [
    ("get 1 KiB", (8,), "get {large}", "VALUE {large} 0 1024\n{V}\nEND"),
    ("get of 10 keys", (2,), "get " + " ".join(several("{text+#}", 10)),
     "".join(several(FOUND.replace("text", "text+#"), 10)) + "END"),
    ("set 1 KiB", (8,), "set {block} 0 0 1024\n{W}", "STORED"),
    ("get of 100 keys", (1,), "get " + " ".join(several("{text+#}", 100)),
     "".join(several(FOUND.replace("text", "text+#"), 100)) + "END"),
    ("set with exptime", (32,), "set {aging} 0 600 64\n{w}", "STORED"),
    ("add, delete", (16,), "add {new} 0 0 64\n{v}\ndelete {new}", "STORED\nDELETED"),
    ("incr", (32,), "incr {counter} 1", "{n}"),
    ("touch", (32,), "touch {large} 600", "TOUCHED"),
]  # fmt: skip

LARGE_FILLING = [
    ("16 KiB", (1,), "set {text16} 0 0 16384\n{v16}", "STORED"),
    ("64 KiB", (1,), "set {text64} 0 0 65536\n{v64}", "STORED"),
    ("768 KiB", (1,), "set {text768} 0 0 786432\n{v768}", "STORED"),
]
LARGE_VALUES = [
    ("get 16 KiB", (1,), "get {text16}", "VALUE {text16} 0 16384\n{v16}\nEND"),
    ("set 16 KiB", (1,), "set {text16} 0 0 16384\n{w16}", "STORED"),
    ("get 64 KiB", (1,), "get {text64}", "VALUE {text64} 0 65536\n{v64}\nEND"),
    ("set 64 KiB", (1,), "set {text64} 0 0 65536\n{w64}", "STORED"),
    ("set 768 KiB", (1,), "set {text768} 0 0 786432\n{w768}", "STORED"),
]
EVICTING = [("set of a new key, evicting", (32,), "set {fresh} 0 0 64\n{v}", "STORED")]

META = [
    ("mg hit", (1, 32), "mg {text} v", "VA 64\n{v}"),
    ("ms overwrite", (1, 32), "ms {written} 64\n{w}", "HD"),
    ("mg hit and miss quiet, mn", (8,), "mg {text} v q\nmg {nothing} v q\nmn", "VA 64\n{v}\nMN"),
    ("ms quiet, mn", (16,), "ms {written} 64 q\n{w}\nmn", "MN"),
]

BINARY_FILLING = [("text", (32,), "Set {text} {v}", "Set")]
BINARY = [
    ("Get hit", (1, 32), "Get {text}", "Get {v}"),
    ("Set overwrite", (1, 32), "Set {written} {w}", "Set"),
    ("GetQ hit and miss, Noop", (8,), "GetQ {text}\nGetQ {nothing}\nNoop", "GetQ {v}\nNoop"),
    ("SetQ, Noop", (16,), "SetQ {written} {w}\nNoop", "Noop"),
]

STRING_FILLING = [("text", (32,), "SET {text} {v}", "+OK")]
STRINGS = [
    ("GET hit", (1, 32), "GET {text}", "{v}"),
    ("GET miss", (32,), "GET {nothing}", "$-1"),
    ("SET overwrite", (1, 32), "SET {written} {w}", "+OK"),
]

FIELDS = several("field:#", 10)
MEMBERS = several("member:#", 10)
ITEMS = [f"item:{number:03}" for number in range(100)]
SCRIPT = "return~redis.call('get',KEYS[1])"
SHA = hashlib.sha1(SCRIPT.replace("~", " ").encode()).hexdigest()
LIBRARY = "#!lua~name=guard|redis.register_function('get_one',function(keys)~return~redis.call('get',keys[1])~end)"
RDS_FILLING = [
    *STRING_FILLING,
    ("large", (8,), "SET {large} {V}", "+OK"),
    ("counter", (32,), "SET {counter} {n}", "+OK"),
    ("hash", (8,), "HSET {hash} " + " ".join(several("field:# {n}", 10)), ":10"),
    ("list", (8,), "RPUSH {list} " + " ".join(ITEMS), ":100"),
    ("set", (8,), "SADD {set} " + " ".join(MEMBERS), ":10"),
    ("sorted", (8,), "ZADD {sorted} " + " ".join(several("10# member:#", 10)), ":10"),
    # More often than a script is on probation.
    ("script", (8,), f"EVAL {SCRIPT} 1 {{text}}", "{v}"),
    ("library", (8,), f"FUNCTION LOAD REPLACE {LIBRARY}", "guard"),
    ("function", (8,), "FCALL get_one 1 {text}", "{v}"),
]
RDS = [
    *STRINGS,
    ("GET 1 KiB", (8,), "GET {large}", "{V}"),
    ("SET 1 KiB", (8,), "SET {block} {W}", "+OK"),
    ("SET EX", (32,), "SET {aging} {w} EX 600", "+OK"),
    ("SETNX, DEL", (16,), "SETNX {new} {v}\nDEL {new}", ":1\n:1"),
    ("EXISTS", (32,), "EXISTS {text}", ":1"),
    ("EXPIRE", (32,), "EXPIRE {large} 600", ":1"),
    ("INCR", (32,), "INCR {counter}", ":{n}"),
    ("MGET of 10", (8,), "MGET " + " ".join(several("{text+#}", 10)), "*10\n" + "{v}\n" * 10),
    ("MGET of 100", (1,), "MGET " + " ".join(several("{text+#}", 100)), "*100\n" + "{v}\n" * 100),
    ("MSET of 10", (8,), "MSET " + " ".join(several("{text+#} {v}", 10)), "+OK"),
    ("MULTI, SET, GET, EXEC", (8,), "MULTI\nSET {written} {w}\nGET {written}\nEXEC",
     "+OK\n+QUEUED\n+QUEUED\n*2\n+OK\n{w}"),
    ("HGET", (32,), "HGET {hash} field:5", f"{NUMBER}"),
    ("HGETALL of 10", (8,), "HGETALL {hash}", "*20\n" + "\n".join(several(f"field:#\n{NUMBER}", 10))),
    ("HSET overwrite", (32,), "HSET {hash} field:9 {n}", ":0"),
    ("LPUSH, LPOP", (16,), "LPUSH {list} item:new\nLPOP {list}", ":101\nitem:new"),
    ("LRANGE of 100", (8,), "LRANGE {list} 0 -1", "*100\n" + "\n".join(ITEMS)),
    ("SADD, SREM", (16,), "SADD {set} new\nSREM {set} new", ":1\n:1"),
    ("SISMEMBER", (32,), "SISMEMBER {set} member:5", ":1"),
    ("ZSCORE", (32,), "ZSCORE {sorted} member:5", "105"),
    ("ZRANGE of 10", (8,), "ZRANGE {sorted} 0 -1", "*10\n" + "\n".join(MEMBERS)),
    ("ZADD overwrite", (32,), "ZADD {sorted} {n} member:9", ":0"),
    ("PUBLISH to nobody", (32,), "PUBLISH news {v}", ":0"),
    ("EVAL of a GET", (1, 32), f"EVAL {SCRIPT} 1 {{text}}", "{v}"),
    ("EVALSHA of a GET", (1, 32), f"EVALSHA {SHA} 1 {{text}}", "{v}"),
    # Its tables are garbage, which is collected in some runs' slices and not in others'. The baseline has the higher
    # of both.
    ("FCALL of a GET", (1, 32), "FCALL get_one 1 {text}", "{v}"),
]  # fmt: skip

RDS_LARGE_FILLING = [
    ("16 KiB", (1,), "SET {text16} {v16}", "+OK"),
    ("64 KiB", (1,), "SET {text64} {v64}", "+OK"),
    ("512 KiB", (1,), "SET {text512} {v512}", "+OK"),
]
RDS_LARGE_VALUES = [
    ("GET 16 KiB", (1,), "GET {text16}", "{v16}"),
    ("SET 16 KiB", (1,), "SET {text16} {w16}", "+OK"),
    ("GET 64 KiB", (1,), "GET {text64}", "{v64}"),
    ("SET 64 KiB", (1,), "SET {text64} {w64}", "+OK"),
    ("SET 512 KiB", (1,), "SET {text512} {w512}", "+OK"),
]

# Enough to fill the memory of a server that is to evict.
FULL = 160
SMALL_CACHE = '[cache]\nmemory = "1MB"\n'
LARGE_CACHE = '[cache]\nmemory = "256MB"\n'

HASHMAP = '[cache]\nstorage = "hashmap"\n'
WITH_RESP = '[resp]\nlisten = ["127.0.0.1:0"]\n'

SCRIPTS = [
    Script("pingserver", cases("pingserver", "lines", PINGSERVER)),
    Script("segcache", cases("segcache", "lines", MEMCACHE + MORE_MEMCACHE),
           cases("", "lines", MEMCACHE_FILLING)),
    Script("segcache", cases("segcache (hashmap)", "lines", MEMCACHE),
           cases("", "lines", HASHMAP_FILLING), HASHMAP),
    Script("segcache", cases("segcache (meta)", "lines", META), cases("", "lines", MEMCACHE_FILLING)),
    Script("segcache", cases("segcache (binary)", "frames", BINARY), cases("", "frames", BINARY_FILLING)),
    Script("segcache", cases("segcache (RESP)", "resp", STRINGS), cases("", "resp", STRING_FILLING), WITH_RESP, 2),
    Script("segcache", cases("segcache", "lines", LARGE_VALUES), cases("", "lines", LARGE_FILLING), LARGE_CACHE),
    Script("segcache", cases("segcache", "lines", EVICTING), often(cases("", "lines", EVICTING)), SMALL_CACHE),
    Script("rds", cases("rds", "resp", RDS), cases("", "resp", RDS_FILLING)),
    Script("rds", cases("rds", "resp", RDS_LARGE_VALUES), cases("", "resp", RDS_LARGE_FILLING)),
]  # fmt: skip

# The same case twice, once with a setting that costs something.
CONTROL = cases("control", "lines", [("get hit", (32,), "get {text}", FOUND + "END")])
PLAIN = Script("segcache", CONTROL, cases("", "lines", MEMCACHE_FILLING))
DEAR = dataclasses.replace(PLAIN, config="[seg]\nintegrity = true\n")

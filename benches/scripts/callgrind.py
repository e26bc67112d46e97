# SPDX-License-Identifier: Apache-2.0
"""A server under valgrind's callgrind: what its worker did between two moments.

The server runs on a simulated CPU, where each instruction is counted for the thread that executes it. Its
system calls are real, the clock of its workers is slow (slow_clock.c). Needs valgrind and a C compiler.
"""
import collections, dataclasses, glob, os, re, subprocess, sys, tempfile
import listening

# What allocators offer to Rust, by the name that it calls or by that of the trait, if the call is inlined; and to C,
# jemalloc's with the prefix that it has in our servers.
ALLOCATING_RUST = re.compile(r"(__rust_|GlobalAlloc>::)(alloc|alloc_zeroed|realloc)$")
ALLOCATING = {"malloc", "calloc", "realloc", "mallocx", "rallocx", "aligned_alloc", "posix_memalign"}
# Ours for workers (slow_clock.c). Outside of valgrind, to read a clock is no system call, either.
CLOCK = "clock_gettime"


@dataclasses.dataclass
class Counts:
    """What one thread did: how much of each kind, and the instructions by function."""

    totals: dict[str, int]
    functions: collections.Counter


class Server:
    """A server whose only worker is watched."""

    def __init__(self, binary, config):
        self.folder = tempfile.TemporaryDirectory()
        self.out, self.pipe = f"{self.folder.name}/out", f"{self.folder.name}/vgdb"
        with open(f"{self.folder.name}/server.toml", "w") as file:
            file.write(config)
        command = [
            "valgrind", "--tool=callgrind", "--separate-threads=yes", "--collect-systime=yes",
            f"--callgrind-out-file={self.out}", f"--vgdb-prefix={self.pipe}", binary, file.name,
        ]  # fmt: skip
        slow_clock = compiled("slow_clock.c", self.folder.name)
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | {"LD_PRELOAD": slow_clock}
        )
        self.parts = 0

    def ports(self, count):
        """The ports of its listeners."""
        found = listening.ports(self.process, count)
        self.worker = self.find_worker()
        return found

    def command(self, *words):
        """Has valgrind do something while the server waits."""
        # A server that sleeps is woken after the given milliseconds.
        command = [
            "vgdb", f"--vgdb-prefix={self.pipe}", f"--pid={self.process.pid}", "--max-invoke-ms=5", *words
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def find_worker(self):
        """Valgrind's number for the thread called `worker 0`."""
        threads = re.findall(r"Thread (\d+): status.*\(lwpid (\d+)\)", self.command("v.info scheduler"))
        for number, task in threads:
            with open(f"/proc/{self.process.pid}/task/{task}/comm") as file:
                if file.read().strip() == "worker 0":
                    return int(number)
        sys.exit("callgrind.py: the server has no thread called worker 0")

    def restart(self):
        """Forgets what was counted."""
        self.command("zero")

    def counts(self):
        """What the worker did since the last call of this or of `restart`."""
        self.command("dump")
        self.parts += 1
        counts = read(f"{self.out}.{self.parts}-{self.worker:02}")
        for path in glob.glob(f"{self.out}.*"):
            os.remove(path)
        return counts

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        self.process.terminate()
        code = self.process.wait(60)
        self.folder.cleanup()
        if code != 0 and failure is None:
            sys.exit(f"callgrind.py: the server ended with code {code}")


def compiled(name, folder):
    """A library that a process can be started with, made of a file in C that is beside this one."""
    source, library = os.path.join(os.path.dirname(__file__), name), f"{folder}/{name}.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def read(path):
    """The counts in a file that callgrind wrote for one thread."""
    with open(path) as file:
        return parse(file)


def parse(lines):
    """The counts in the lines of such a file: functions with the costs of their lines, and their calls.

    >>> counts = parse('''
    ... events: Ir sysCount sysTime
    ... summary: 43 3 9
    ... fn=(1) turn
    ... 10 20
    ... +2 4
    ... cfn=(2) _rjem_malloc
    ... calls=2 70
    ... 12 10
    ... cfn=(3) clock_gettime@@GLIBC_2.17
    ... calls=1 70
    ... 12 4 1
    ... cfn=(4) __rustc::__rust_alloc
    ... calls=1 90
    ... 12 9
    ... fn=(4)
    ... 90 5
    ... cfn=(2)
    ... calls=1 70
    ... 90 4
    ... fn=(2)
    ... 70 10
    ... fn=(3)
    ... 70 4 1
    ... '''.splitlines())
    >>> counts.totals
    {'instructions': 39, 'system calls': 2, 'allocations': 3}
    >>> counts.functions.most_common(2)
    [('turn', 24), ('_rjem_malloc', 10)]
    """
    names, functions, calls = {}, collections.Counter(), collections.Counter()
    allocations = 0
    function = called = None
    is_inclusive = False
    instructions = system_calls = 0

    def name(text):
        number, _, rest = text.partition(" ")
        if rest:
            names[number] = rest.partition("@")[0]
        return names[number]

    for line in lines:
        key, equals, value = line.rstrip("\n").partition("=")
        if key == "fn" and equals:
            function = name(value)
        elif key == "cfn" and equals:
            called = name(value)
        elif key == "calls" and equals:
            # The line after it is the cost of the calls, which the called function has too.
            times = int(value.split()[0])
            calls[called] += times
            if is_allocation(function, called):
                allocations += times
            is_inclusive = True
        elif line.startswith("events:"):
            assert line.split()[1:3] == ["Ir", "sysCount"], line
        elif line.startswith("summary:"):
            instructions, system_calls = (list(map(int, line.split()[1:])) + [0])[:2]
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if not is_inclusive:
                functions[function] += int(line.split()[1])
            is_inclusive = False
    system_calls -= calls[CLOCK]
    instructions -= functions.pop(CLOCK, 0)
    totals = {"instructions": instructions, "system calls": system_calls, "allocations": allocations}
    return Counts(totals, functions)


def is_allocation(caller, called):
    """Whether a call gets memory. What Rust calls for that may call what C does.

    >>> [is_allocation("turn", "__rustc::__rust_alloc"), is_allocation("__rustc::__rust_alloc", "malloc")]
    [True, False]
    >>> is_allocation("turn", "<slabs::Slabs<A> as core::alloc::global::GlobalAlloc>::realloc")
    True
    """
    is_allocating = ALLOCATING_RUST.search(called) or called.removeprefix("_rjem_") in ALLOCATING
    return bool(is_allocating) and not ALLOCATING_RUST.search(caller)


def environment(binaries):
    """What instruction counts depend on besides our code: compilers, libc, valgrind and its CPU.

    Functions of libc and of crates choose their variant by what the CPU can do, and valgrind's CPU can do
    no more than that of the machine. libc is asked for the level of what it sees there.
    """
    compilers = set()
    for binary in binaries:
        with open(binary, "rb") as file:
            image = file.read()
        compilers |= set(re.findall(rb"rustc version \S+ \([^)]*\)|GCC: \([^)]*\) [.0-9]+", image))
        loader = re.search(rb"/lib[0-9a-z]*/ld-linux[-.0-9a-z_]*", image[:4096])
    asked = subprocess.run(
        ["valgrind", "-q", "--tool=none", loader.group(0).decode(), "--help"], capture_output=True, text=True
    )
    levels = re.findall(r"^  (\S+) \(supported, searched\)", asked.stdout, re.MULTILINE)
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True)
    return {
        "compilers": ", ".join(sorted(text.decode() for text in compilers)),
        "cpu": levels[0] if levels else os.uname().machine,
        "libc": os.confstr("CS_GNU_LIBC_VERSION"),
        "valgrind": version.stdout.strip(),
    }

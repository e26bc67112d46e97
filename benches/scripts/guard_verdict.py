# SPDX-License-Identifier: Apache-2.0
"""What `guard.py` makes of two sets of counts: which rose too far, which fell far enough to be noted."""
import json

# What is counted, and the digits it is kept with.
DIGITS = {"instructions": 1, "system calls": 4, "allocations": 4}
RISE_MAX = 0.03
# A large value comes in parts, and each takes a system call and some work. How many there are is a matter of when the
# client has its turn.
RISE_MAX_IN_PARTS = 0.1
MORE_PARTS = 1
# Calls of a step that is not in parts: to wait, to receive, to send.
CALLS_OF_ONE_PART = 3


def limits(case):
    """How high each count of a case may be.

    >>> limits({"instructions": 1000.0, "system calls": 3.0, "allocations": 0.0})
    {'instructions': 1030.0, 'system calls': 3.09, 'allocations': 0.0}
    >>> limits({"instructions": 1000.0, "system calls": 6.0, "allocations": 2.0})
    {'instructions': 1100.0, 'system calls': 7.0, 'allocations': 2.06}
    """
    highest = {count: now * (1 + RISE_MAX) for count, now in case.items()}
    if case["system calls"] > CALLS_OF_ONE_PART:
        highest["instructions"] = case["instructions"] * (1 + RISE_MAX_IN_PARTS)
        highest["system calls"] = case["system calls"] + MORE_PARTS
    return highest


def compare(baseline, cases, counts=DIGITS):
    """Rows of (case, count, before, now): what rose, what fell; and the names only one side has.

    >>> case = {"instructions": 1000.0, "system calls": 3.0, "allocations": 0.0}
    >>> compare({"a": case, "b": case}, {"a": case, "b": case})
    ([], [], [])
    >>> compare({"a": case}, {"a": case | {"instructions": 1031.0, "system calls": 2.0}})
    ([('a', 'instructions', 1000.0, 1031.0)], [('a', 'system calls', 3.0, 2.0)], [])
    >>> compare({"a": case}, {"a": case | {"instructions": 1030.0, "system calls": 3.25}})
    ([('a', 'system calls', 3.0, 3.25)], [], [])
    >>> compare({"a": case}, {"a": case | {"allocations": 0.01}})
    ([('a', 'allocations', 0.0, 0.01)], [], [])
    >>> compare({"a": case}, {"a": case | {"instructions": 1031.0}}, ["allocations"])
    ([], [], [])
    >>> compare({"a": case}, {"b": case})
    ([], [], ['a', 'b'])
    """
    rose, fell = [], []
    for name in sorted(baseline.keys() & cases.keys()):
        for count in counts:
            before, now = baseline[name][count], cases[name][count]
            if now > limits(baseline[name])[count]:
                rose.append((name, count, before, now))
            elif before > limits(cases[name])[count]:
                fell.append((name, count, before, now))
    return rose, fell, sorted(baseline.keys() ^ cases.keys())


def lesser(cases, again):
    """The cases, with the lesser of each count where they were measured again.

    >>> lesser({"a": {"n": 1, "m": 5}, "b": {"n": 2}}, {"a": {"n": 3, "m": 4}})
    {'a': {'n': 1, 'm': 4}, 'b': {'n': 2}}
    """
    both = {name: {count: min(cases[name][count], again[name][count]) for count in again[name]} for name in again}
    return cases | both


def differences(before, now):
    """What is not the same in two environments, a line each.

    >>> differences({"libc": "glibc 2.36", "cpu": "x86-64-v3"}, {"libc": "glibc 2.41", "cpu": "x86-64-v3"})
    ['libc: glibc 2.36 in the baseline, glibc 2.41 here']
    """
    names = sorted(before.keys() | now.keys())
    pairs = ((name, before.get(name), now.get(name)) for name in names)
    return [f"{name}: {old} in the baseline, {new} here" for name, old, new in pairs if old != new]


def table(rows):
    """
    >>> print(table([("a", "instructions", 100.0, 110.0), ("b", "allocations", 0.0, 1.0)]))
      a  instructions  100 -> 110  +10.0 %
      b  allocations   0 -> 1      from nothing
    """
    cells = [
        (name, count, f"{before:g} -> {now:g}", f"{100 * (now / before - 1):+.1f} %" if before else "from nothing")
        for name, count, before, now in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in cells]
    return "\n".join(f"  {line.rstrip()}" for line in lines)


def text(environment, cases):
    """A baseline as JSON with a line for each case, in the order of their names.

    >>> print(text({"libc": "glibc 2.36"}, {"b": {"allocations": 0.0}, "a": {"allocations": 1.5}}), end="")
    {
      "environment": {
        "libc": "glibc 2.36"
      },
      "cases": {
        "a": {"allocations": 1.5},
        "b": {"allocations": 0.0}
      }
    }
    """
    described, counted = (
        ",\n".join(f"    {json.dumps(name)}: {json.dumps(part[name])}" for name in sorted(part))
        for part in (environment, cases)
    )
    return f'{{\n  "environment": {{\n{described}\n  }},\n  "cases": {{\n{counted}\n  }}\n}}\n'

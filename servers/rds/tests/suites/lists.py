# SPDX-License-Identifier: Apache-2.0
"""Lists of tests that are left out."""


def patterns(path):
    """The lines of a list: regular expressions, most of them, under headings that say why."""
    with open(path) as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]

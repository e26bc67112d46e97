# SPDX-License-Identifier: Apache-2.0
"""What the tests of python-memcached take from a module that their source distribution lacks."""

import contextlib, io


@contextlib.contextmanager
def captured_stderr():
    with contextlib.redirect_stderr(io.StringIO()) as captured:
        yield captured

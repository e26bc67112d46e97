# SPDX-License-Identifier: Apache-2.0
"""Runs a part of Django's tests, and writes down what became of each.

SUITE_PART is `i/n`: the i-th of every n tests. SUITE_ACCOUNT names the file for the account, in JSON.
"""

import json, os

from django.test.runner import DiscoverRunner
from django.test.utils import iter_test_cases


class Runner(DiscoverRunner):
    """Django's own, for a part of the tests."""

    def build_suite(self, *arguments, **options):
        part, parts = map(int, os.environ["SUITE_PART"].split("/"))
        tests = list(iter_test_cases(super().build_suite(*arguments, **options)))
        return self.test_suite(tests[part::parts])

    def run_suite(self, suite, **options):
        names = [test.id() for test in iter_test_cases(suite)]
        result = super().run_suite(suite, **options)
        # Each part of a test that fails is told of by itself.
        broken = [test.id() for test, _ in [*result.failures, *result.errors]]
        broken += [test.id() for test in result.unexpectedSuccesses]
        skipped = dict((test.id(), reason) for test, reason in result.skipped)
        account = {"names": names, "failed": broken, "skipped": skipped}
        with open(os.environ["SUITE_ACCOUNT"], "w") as file:
            json.dump(account, file)
        return result

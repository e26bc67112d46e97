# SPDX-License-Identifier: Apache-2.0
"""The settings under which Django's own tests run: SUITE_CACHE is the cache, in JSON."""

import json, os

CACHES = {"default": json.loads(os.environ["SUITE_CACHE"])}
DATABASES = {
    name: {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"} for name in ("default", "other")
}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SECRET_KEY = "not secret"
TEST_RUNNER = "suite_runner.Runner"
USE_TZ = False

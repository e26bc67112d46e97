#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Before the files go: stop the service.
set -e

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop @PROGRAM@.service >/dev/null || true
fi

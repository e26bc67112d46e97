#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After the files are gone. The configuration, logs and the user stay until the package is purged.
set -e

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ]; then
    if command -v deb-systemd-helper >/dev/null; then
        deb-systemd-helper purge @PROGRAM@.service >/dev/null || true
    fi
    # Empty once no other server of Shoebill has its configuration there: the last one that goes takes the rest along.
    rmdir --ignore-fail-on-non-empty /etc/shoebill 2>/dev/null || true
    if [ ! -d /etc/shoebill ]; then
        rm -rf /var/log/shoebill
        if command -v deluser >/dev/null && getent passwd shoebill >/dev/null; then
            deluser --quiet --system shoebill
        fi
    fi
fi

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After the files are there: the user, and the service. @PROGRAM@ is the server's name.
set -e

case $1 in
configure | abort-upgrade | abort-deconfigure | abort-remove)
    adduser --quiet --system --group --no-create-home --home /nonexistent \
        --gecos "Shoebill cache servers" shoebill
    # As debhelper does it: on from the first installation on, unless an administrator has said otherwise.
    if command -v deb-systemd-helper >/dev/null; then
        deb-systemd-helper unmask @PROGRAM@.service >/dev/null || true
        if deb-systemd-helper --quiet was-enabled @PROGRAM@.service; then
            deb-systemd-helper enable @PROGRAM@.service >/dev/null || true
        else
            deb-systemd-helper update-state @PROGRAM@.service >/dev/null || true
        fi
    fi
    if [ -d /run/systemd/system ]; then
        systemctl --system daemon-reload >/dev/null || true
        if [ -n "$2" ]; then action=restart; else action=start; fi
        deb-systemd-invoke $action @PROGRAM@.service >/dev/null || true
    fi
    ;;
esac

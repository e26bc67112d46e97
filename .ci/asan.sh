#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test program that was built with AddressSanitizer: cargo calls it with the program and its arguments.
set -eu
case ${1##*/} in
# What the kernel may still read is leaked on purpose; the tests of that would be reported.
reactor-*) export ASAN_OPTIONS=detect_leaks=0 ;;
esac
exec "$@"

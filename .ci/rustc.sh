#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A compiler on huge pages: cargo calls it with the program to run and its arguments. What compilers run has them as well,
# but nothing that is tested does.
MALLOC_CONF=thp:always,metadata_thp:always exec "$@"

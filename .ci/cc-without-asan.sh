#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The C compiler, without AddressSanitizer where it is told to use it.
for argument; do
    shift
    [ "$argument" = -fsanitize=address ] || set -- "$@" "$argument"
done
exec cc "$@"

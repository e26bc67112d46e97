#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# oracles.sh DIR SUITE [PACKAGE...]: unpacks the memcached of a Debian suite (trixie, sid) into DIR, with the libraries that
# it needs, and installs nothing. DIR/bin/memcached runs it; SHOEBILL_MEMCACHED=DIR/bin/memcached makes tests compare with
# it. Given PACKAGEs, unpacks those alone, into DIR/root.
# The packages come from the mirror that this machine has for its own suite.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0" && exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
suite=$2
packages=(memcached libc6 libevent-2.1-7t64 liblua5.4-0 libsasl2-2 libseccomp2 libssl3t64 libzstd1 zlib1g)
shift 2
others=("$@")
[ $# -eq 0 ] || packages=("$@")

# The first mirror of the machine's sources, in either of their two forms.
mirror() {
    local list
    for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        [ -e "$list" ] || continue
        awk '$1 == "URIs:" { print $2; exit }
             $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\//) { print $i; exit } }' "$list"
    done | head -n 1
}

uri=$(mirror)
[ -n "$uri" ] || { echo "no Debian mirror in this machine's sources" >&2 && exit 1; }
state=$dir/apt root=$dir/root
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$dir/debs" "$root" "$dir/bin"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main" >"$state/sources.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state/cache")
# As root, apt would fetch as a user who may not write to DIR.
[ "$(id -u)" -ne 0 ] || apt+=(-o APT::Sandbox::User=root)
"${apt[@]}" update
rm -f "$dir/debs/"*.deb
(cd "$dir/debs" && "${apt[@]}" download "${packages[@]}" >/dev/null)
for deb in "$dir/debs/"*.deb; do
    dpkg -x "$deb" "$root"
done
[ ${#others[@]} -eq 0 ] || exit 0

# Its own loader and libraries: those of the machine may be older than it wants.
loader=$(find "$root" -name 'ld-linux*.so.*' -print -quit)
libraries=$(find "$root" -name 'libevent-2*.so*' -printf '%h\n' -quit):${loader%/*}
cat >"$dir/bin/memcached" <<END
#!/bin/sh
exec "$loader" --argv0 memcached --library-path "$libraries" "$root/usr/bin/memcached" "\$@"
END
chmod +x "$dir/bin/memcached"
"$dir/bin/memcached" -V

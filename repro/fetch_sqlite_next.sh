#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fetch_sqlite_next.sh CACHEDIR: makes a newer SQLite amalgamation available and prints the
# directory that has sqlite3.c and sqlite3.h. It takes them from an npm package, because that is a
# pinned, checksummed copy of the amalgamation that an ordinary package client can fetch.
# A second call with the same directory fetches nothing. On failure it says why in one line on
# stderr and exits 1 (2: usage); the harness then skips and counts the cells of that version.
set -eu

package=better-sqlite3
release=12.11.1
want=3.53.2

fail() {
  echo "fetch_sqlite_next.sh: $1" >&2
  exit "${2:-1}"
}

[ $# -eq 1 ] || fail 'usage: fetch_sqlite_next.sh CACHEDIR' 2
mkdir -p "$1" || fail "cannot create $1"
cache=$(cd "$1" && pwd)
final=$cache/sqlite-$want

complete() {
  [ -f "$1/sqlite3.h" ] && [ -s "$1/sqlite3.c" ] &&
    grep -q "^#define SQLITE_VERSION  *\"$want\"" "$1/sqlite3.h"
}

if complete "$final"; then
  echo "$final"
  exit 0
fi

command -v npm >/dev/null 2>&1 || fail 'npm is not installed'
command -v tar >/dev/null 2>&1 || fail 'tar is not installed'

# Unpacked beside the final place and renamed, so that an interrupted run leaves nothing half done.
scratch=$(mktemp -d "$cache/fetch.XXXXXX") || fail "cannot write to $cache"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

(cd "$scratch" && npm pack --silent "$package@$release" >/dev/null 2>npm.log) ||
  fail "npm could not fetch $package@$release: $(grep -m 1 -v '^$' "$scratch/npm.log" || echo 'no reason given')"
tar -xzf "$scratch/$package-$release.tgz" -C "$scratch" \
  package/deps/sqlite3/sqlite3.c package/deps/sqlite3/sqlite3.h 2>"$scratch/tar.log" ||
  fail "$package-$release.tgz has no deps/sqlite3/sqlite3.c"
complete "$scratch/package/deps/sqlite3" || fail "$package@$release does not contain SQLite $want"

# Another process may have been faster: then its copy serves.
if ! complete "$final"; then
  rm -rf "$final"
  mv "$scratch/package/deps/sqlite3" "$final" 2>/dev/null || complete "$final" ||
    fail "cannot move the sources to $final"
fi
echo "$final"

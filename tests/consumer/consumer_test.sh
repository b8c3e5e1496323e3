#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# consumer_test.sh SOURCE-DIR BUILD-DIR PREFIX LIBDIR: installs the library into a scratch folder
# and uses it in every way that a user may. Answers in TAP.
set -euo pipefail

source_dir=$(realpath "$1")
build_dir=$(realpath "$2")
prefix=$3
libdir=$4
here=$source_dir/tests/consumer

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
stage=$scratch/stage$prefix
export LD_LIBRARY_PATH=$stage/$libdir
export PKG_CONFIG_PATH=$stage/$libdir/pkgconfig
unset CXXFLAGS LDFLAGS DESTDIR

number=0
answer() {  # ok|"not ok" TEXT
  number=$((number + 1))
  echo "$1 $number - $2"
}
# NAME COMMAND...: the command's output goes to stderr.
check() {
  local name=$1
  shift
  if "$@" >&2; then answer ok "$name"; else answer 'not ok' "$name"; fi
}
skip() { answer ok "$1 # SKIP $2"; }
finish() { echo "1..$number"; }

install_library() {
  meson install -C "$build_dir" --no-rebuild --destdir "$scratch/stage" --quiet &&
    # What a packager does for a prefix that is not the one configured.
    sed -i "s|^prefix=.*|prefix=$stage|" "$stage/$libdir/pkgconfig/walguard.pc"
}

runs() {  # PROGRAM: on a database of its own
  local database
  database=$(mktemp -d "$scratch/db.XXXXXX")/app.db
  "$1" "$database"
}

by_pkg_config() {
  local flags
  flags=$(pkg-config --cflags --libs walguard sqlite3) || return 1
  # shellcheck disable=SC2086
  c++ -std=c++20 -Wall -Wextra -Werror "$here/consumer.cpp" -o "$scratch/by_pkg_config" $flags &&
    runs "$scratch/by_pkg_config"
}

configure_with_cmake() {  # VERSION: the one asked for
  # Ninja is there, since meson needs it; make may not be. The folder is named outright: without
  # Debian's dpkg-dev meson chooses lib64, where CMake on Debian does not look.
  cmake -G Ninja -S "$here/find_package" -B "$scratch/find_package_$1" \
    -Dwalguard_DIR="$stage/$libdir/cmake/walguard" -Dwalguard_wanted="$1"
}

by_find_package() {
  configure_with_cmake 0.1 && cmake --build "$scratch/find_package_0.1" &&
    runs "$scratch/find_package_0.1/consumer"
}

find_package_refuses() {  # VERSION
  local said
  if said=$(configure_with_cmake "$1" 2>&1); then return 1; fi
  grep -q 'is compatible with requested version' <<<"$(tr -s ' \n' ' ' <<<"$said")"
}

meson_project() {  # NAME: a copy of the project, since it may get subprojects
  cp -r "$here/meson_project" "$scratch/$1"
  cp "$here/consumer.cpp" "$scratch/$1/"
}

by_meson_dependency() {
  meson_project installed
  meson setup "$scratch/installed" "$scratch/installed/build" --wrap-mode=nofallback &&
    ninja -C "$scratch/installed/build" &&
    runs "$scratch/installed/build/consumer"
}

by_meson_subproject() {
  meson_project subproject
  mkdir "$scratch/subproject/subprojects"
  ln -s "$source_dir" "$scratch/subproject/subprojects/walguard"
  printf '[provide]\ndependency_names = walguard\n' >"$scratch/provide"
  printf '[wrap-file]\ndirectory = walguard\n\n' |
    cat - "$scratch/provide" >"$scratch/subproject/subprojects/walguard.wrap"
  PKG_CONFIG_PATH='' meson setup "$scratch/subproject" "$scratch/subproject/build" \
    -Dbuildtype=debug --force-fallback-for=walguard &&
    ninja -C "$scratch/subproject/build" &&
    LD_LIBRARY_PATH='' runs "$scratch/subproject/build/consumer"
}

subproject_brings_the_library_alone() {
  ! meson introspect --targets "$scratch/subproject/build" | tr ',' '\n' |
    grep -E '"name": "(unit_|system_|sabotage_|walguard-repro)'
}

check 'the library installs' install_library
check 'pkg-config: builds and guards' by_pkg_config
if command -v cmake >/dev/null; then
  check 'CMake find_package: builds and guards' by_find_package
  check 'CMake find_package refuses another minor version' find_package_refuses 0.9
  check 'CMake find_package refuses another major version' find_package_refuses 1.0
else
  skip 'CMake find_package' 'cmake is not installed'
fi
check 'meson dependency: builds and guards' by_meson_dependency
check 'meson subproject: builds and guards' by_meson_subproject
check 'meson subproject: no tests, no harness' subproject_brings_the_library_alone
finish

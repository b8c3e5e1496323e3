# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Sourced by repro/run, tests/run and .ci/run: finds out what is missing, installs it where it may,
# and builds. The caller is in the top folder and has `set -euo pipefail`.

# Debian's package | how to see that it is there | who needs it | what happens without it
#   needed   nothing can be built
#   wrap     meson builds it from subprojects/
#   skipped  the parts that use it are skipped, counted and shown
walguard_packages='
  g++                 command:c++                      repro,tests,ci  needed
  meson               command:meson                    repro,tests,ci  needed
  ninja-build         command:ninja                    repro,tests,ci  needed
  pkg-config          command:pkg-config               repro,tests,ci  needed
  python3             command:python3                  repro,tests,ci  needed
  libsqlite3-dev      header:sqlite3.h                 repro,tests,ci  wrap
  sqlite3             command:sqlite3                  repro,tests,ci  needed
  librange-v3-dev     header:range/v3/version.hpp      repro,tests,ci  wrap
  libcli11-dev        header:CLI/CLI.hpp               repro,tests,ci  wrap
  nlohmann-json3-dev  header:nlohmann/json.hpp         repro,tests,ci  wrap
  libboost-test-dev   header:boost/test/unit_test.hpp  tests,ci        needed
  cmake               command:cmake                    tests,ci        skipped
  libbenchmark-dev    header:benchmark/benchmark.h     ci              skipped
  clang               command:clang++                  ci              skipped
  clang-format        command:clang-format             ci              needed
  clang-tidy          command:clang-tidy               ci              needed
'

walguard_has() {  # command:NAME or header:NAME
  case $1 in
    command:*) command -v "${1#*:}" >/dev/null ;;
    header:*) echo "#include <${1#*:}>" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1 ;;
  esac
}

walguard_missing() {  # USER: sets the array `missing` to "PACKAGE EFFECT" lines
  local package probe users effect
  missing=()
  while read -r package probe users effect; do
    [[ -n $package && ,$users, == *,"$1",* ]] || continue
    walguard_has "$probe" || missing+=("$package $effect")
  done <<<"$walguard_packages"
}

# USER: one of the third column. The first line that it prints says what it does.
walguard_install() {
  local missing packages
  walguard_missing "$1"
  if ((${#missing[@]} == 0)); then
    echo 'Everything needed is installed.'
    return
  fi
  packages=("${missing[@]% *}")
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    echo "Installing with apt-get: ${packages[*]}"
    walguard_apt_get "${packages[@]}" || true  # what is there now is what counts
    walguard_missing "$1"
    ((${#missing[@]} > 0)) || return 0
    packages=("${missing[@]% *}")
  fi
  echo "Missing packages, by their Debian names: ${packages[*]}"
  if walguard_any needed >/dev/null; then
    printf 'Cannot go on without: %s\nOn Debian, as root: apt-get install %s\n' \
      "$(walguard_any needed)" "${packages[*]}" >&2
    return 1
  fi
  if walguard_any wrap >/dev/null; then
    echo "Built from subprojects/ instead, with a download: $(walguard_any wrap)"
  fi
  if walguard_any skipped >/dev/null; then
    echo "What uses these is skipped: $(walguard_any skipped)"
  fi
}

walguard_any() {  # EFFECT: which missing packages have it; fails when none does
  printf '%s\n' "${missing[@]}" | sed -n "s/ $1\$//p" | paste -sd ' ' - | grep .
}

walguard_apt_get() {
  local apt=(apt-get -qq -o DPkg::Lock::Timeout=300)
  export DEBIAN_FRONTEND=noninteractive
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    "${apt[@]}" update
  fi
  "${apt[@]}" install -y --no-install-recommends "$@" </dev/null >/dev/null || {
    "${apt[@]}" update  # the lists may be out of date
    "${apt[@]}" install -y --no-install-recommends "$@" </dev/null >/dev/null
  }
}

# BUILD-DIRECTORY [MESON OPTION...]: configures where it must, and builds. Options of earlier calls
# on the same directory stay in force.
walguard_build() {
  local build=$1 options=() option next
  shift
  if next=$(sh repro/fetch_sqlite_next.sh "$build/sqlite_next"); then
    set -- "$@" "-Dsqlite_next=$next"
  else
    echo 'Without a newer SQLite: what needs it is skipped.'
  fi
  touch "$build/walguard-options"
  for option in "$@"; do
    grep -qxF -e "$option" "$build/walguard-options" || options+=("$option")
  done
  if [[ ! -e $build/build.ninja ]]; then
    meson setup "$build" "$@" >"$build/setup.log" || { cat "$build/setup.log" >&2; return 1; }
  elif ((${#options[@]} > 0)); then
    meson setup --reconfigure "$build" "${options[@]}" >"$build/setup.log" ||
      { cat "$build/setup.log" >&2; return 1; }
  fi
  ((${#options[@]} == 0)) || printf '%s\n' "${options[@]}" >>"$build/walguard-options"
  ninja -C "$build"
}

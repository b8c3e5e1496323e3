#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# readme_test.sh SOURCE-DIR LIBRARY [WALGUARD-REPRO]: does README.md tell the truth? Its program is
# compiled, run and compared with the output printed below it, its fragments are compiled, its
# scenario is run, and what it names exists. Answers in TAP.
set -euo pipefail

source_dir=$(realpath "$1")
library=$(realpath "$2")
repro=${3:+$(realpath "$3")}
readme=$source_dir/README.md

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset CXXFLAGS LDFLAGS WALGUARD WALGUARD_DESCRIPTORS

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

# MARK [N]: the N-th (first) fenced block after the line `<!-- MARK -->`; fails when there is none.
block() {
  awk -v mark="<!-- $1 -->" -v wanted="${2:-1}" '
    $0 == mark { marked = 1; next }
    marked && /^```/ { inside = !inside; if (inside) ++count; else if (count == wanted) exit; next }
    inside && count == wanted { print; ++lines }
    END { exit !lines }
  ' "$readme"
}

sqlite() {  # --cflags|--libs WHEN-UNKNOWN
  pkg-config "$1" sqlite3 2>/dev/null || echo "$2"
}
compile() {  # ARGUMENT...
  # shellcheck disable=SC2046
  c++ -std=c++20 -Wall -Wextra -Werror -I "$source_dir/include" $(sqlite --cflags '') "$@"
}

link() {  # OBJECT PROGRAM
  # shellcheck disable=SC2046
  c++ "$1" -o "$2" "$library" "-Wl,-rpath,$(dirname "$library")" $(sqlite --libs -lsqlite3) -pthread
}

program_compiles() {
  block 'example: quickstart' >"$scratch/quickstart.cpp" &&
    compile -c "$scratch/quickstart.cpp" -o "$scratch/quickstart.o" &&
    link "$scratch/quickstart.o" "$scratch/quickstart"
}

# FOLDER [NAME=VALUE]: runs the program in a new folder.
run_program() {
  mkdir "$scratch/$1" && (cd "$scratch/$1" && env "${@:2}" "$scratch/quickstart")
}

program_prints_what_it_says() {  # FOLDER [NAME=VALUE]
  block 'example: quickstart' 2 >"$scratch/expected" && run_program "$@" >"$scratch/printed" &&
    diff "$scratch/expected" "$scratch/printed"
}

# The last close was a true one.
program_leaves_the_database_alone() {
  [[ $(ls "$scratch/guarded") == app.db ]]
}

# Otherwise the example would show nothing.
row_is_lost_without_the_guard() {
  run_program off WALGUARD=off >"$scratch/off.printed" || true
  diff <(printf '1\n1\n') <(head -n 2 "$scratch/off.printed")
}

closer_deletes_without_asking() {  # sqlite3 before 3.51
  local version
  version=$(sqlite3 --version) &&
    [[ $(printf '%s\n3.51\n' "${version%% *}" | sort -V | head -n 1) != 3.51 ]]
}

fragment_compiles() {  # NAME
  {
    printf '#include <sqlite3.h>\n#include <walguard/host_sqlite.hpp>\n'
    printf 'void fragment([[maybe_unused]] sqlite3* db) {\n'
    block "fragment: $1" || return
    echo '}'
  } >"$scratch/fragment.cpp"
  compile -fsyntax-only "$scratch/fragment.cpp"
}

every_program_text_is_tried() {
  [[ $(grep -c '^```cpp$' "$readme") == $(grep -cE '^<!-- (example|fragment): .* -->$' "$readme") ]]
}

# It has an outcome in each arm, and the status says whether it is the expected one.
scenario_runs() {
  block 'scenario: mine' >"$scratch/mine.scenario" || return 1
  if ! (cd "$scratch" && "$repro" run mine.scenario >report); then
    cat "$scratch/report"
    return 1
  fi
  grep -qE '^bare: 1 harmed' "$scratch/report" && grep -qE '^guard: 0 harmed, 1 held' "$scratch/report"
}

commands_exist() {
  local command
  for command in repro/run tests/run; do
    grep -qF "./$command" "$readme" && [[ -x $source_dir/$command ]] || return 1
  done
  grep -qF tests/bench/run "$readme" && [[ -e $source_dir/tests/bench/run ]]
}

map_is_true() {
  local path missing=0
  while read -r path; do
    [[ -e $source_dir/$path ]] || { echo "not there: $path"; missing=1; }
  done < <(block map | cut -d ' ' -f 1)
  for path in "$source_dir"/src/*/; do
    block map | grep -q "^src/$(basename "$path")/" || { echo "not on the map: $path"; missing=1; }
  done
  return $missing
}

# FILE ENUM: the names of its values.
values_of() {
  sed -n "/^enum class $2 /,/^};/s/^  \([a-z_]*\) *=.*/\1/p" "$source_dir/include/walguard/$1" | sort
}
errors_named_exist() {
  local unknown
  unknown=$(comm -23 <(grep -o 'errc::[a-z_]*' "$readme" | sed 's/.*:://' | sort -u) \
    <(values_of error.hpp errc))
  echo "unknown: $unknown"
  [[ -n $(values_of error.hpp errc) && -z $unknown ]]
}
every_event_is_named() {
  local event
  [[ -n $(values_of events.hpp EventKind) ]] || return 1
  for event in $(values_of events.hpp EventKind); do
    grep -q "^| .*\`$event\`" "$readme" || { echo "not named: $event"; return 1; }
  done
}

check 'the example compiles' program_compiles
if command -v sqlite3 >/dev/null; then
  check 'the example prints what the README says' program_prints_what_it_says guarded
  check 'it prints the same without a keeper' \
    program_prints_what_it_says process WALGUARD_DESCRIPTORS=process
  check 'the example leaves the database and no sidecars' program_leaves_the_database_alone
  if closer_deletes_without_asking; then
    check 'without the guard the example loses a row' row_is_lost_without_the_guard
  else
    skip 'without the guard the example loses a row' 'sqlite3 is 3.51 or newer'
  fi
else
  skip 'the example prints what the README says' 'the sqlite3 shell is not installed'
fi
while IFS= read -r name; do
  check "the fragment '$name' compiles" fragment_compiles "$name"
done < <(sed -n 's/^<!-- fragment: \(.*\) -->$/\1/p' "$readme")
check 'every piece of C++ is tried' every_program_text_is_tried
if [[ -n $repro ]]; then
  check 'the scenario runs and is as expected' scenario_runs
else
  skip 'the scenario runs and is as expected' 'walguard-repro is not built'
fi
check 'its commands exist' commands_exist
check 'its map of the tree is true' map_is_true
check 'the errors that it names exist' errors_named_exist
check 'it names every event' every_event_is_named
echo "1..$number"

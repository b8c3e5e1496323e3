#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# symbols_test.sh LIBRARY EXPECTED: what the shared library exports and needs. Answers in TAP.
# symbols_test.sh --update LIBRARY EXPECTED writes the list anew.
set -euo pipefail

# Names defined for others, demangled. Weak functions are inline ones that the compiler happened not
# to inline: they depend on the compiler and its options, so that they are not listed.
exported() { nm -D --defined-only "$1" | awk -v kinds="$2" '$2 ~ kinds { print $3 }' | c++filt | sort -u; }
strong='^[A-TVX-Z]$'
listed() { grep -v '^#' "$1"; }

if [[ $1 == --update ]]; then
  {
    echo '# SPDX-License-Identifier: MIT'
    echo '# What libwalguard.so exports; written by tests/consumer/symbols_test.sh --update.'
    exported "$2" "$strong"
  } >"$3"
  exit
fi
library=$1
expected=$2

number=0
# NAME COMMAND...: passes when the command succeeds; its output goes to stderr.
check() {
  number=$((number + 1))
  local name=$1 result=ok
  shift
  "$@" >&2 || result='not ok'
  echo "$result $number - $name"
}

same_as_listed() { diff <(listed "$expected") <(exported "$library" "$strong"); }
only_our_names() {
  # typeinfo and vtables of the public classes are named after them
  ! exported "$library" . | grep -vE '^((typeinfo|typeinfo name|vtable) for )?walguard(::|_)'
}
needs_no_sqlite() { ! readelf -d "$library" | grep NEEDED | grep -i sqlite; }
leaves_no_sqlite_undefined() { ! nm -D --undefined-only "$library" | grep sqlite3_; }
is_never_unloaded() { readelf -d "$library" | grep -q NODELETE; }
has_soname() { readelf -d "$library" | grep -q 'SONAME.*\[libwalguard\.so\.0\]'; }
test_can_see() { [[ -n $(exported "$library" "$strong") ]]; }

check 'the test reads the library' test_can_see
check 'exports are the listed ones' same_as_listed
check 'exports are named walguard' only_our_names
check 'SQLite is not among the needed libraries' needs_no_sqlite
check 'no routine of SQLite is expected from the process' leaves_no_sqlite_undefined
check 'it is never unloaded' is_never_unloaded
check 'its soname is libwalguard.so.0' has_soname
echo "1..$number"

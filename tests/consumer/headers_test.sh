#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# headers_test.sh INCLUDE-DIR: every public header compiles alone, without a warning, with g++ and
# clang++. Answers in TAP.
set -euo pipefail
cd "$1"

number=0
while read -r header; do
  case $header in
    *.h) languages='c c++' ;;
    *) languages=c++ ;;
  esac
  for compiler in g++ clang++; do
    for language in $languages; do
      standard=c++20
      [[ $language == c++ ]] || standard=c11
      number=$((number + 1))
      name="$header alone, $compiler -std=$standard"
      if ! command -v "$compiler" >/dev/null; then
        echo "ok $number - $name # SKIP $compiler is not installed"
      elif echo "#include <$header>" | "$compiler" -x "$language" -std="$standard" -Wall -Wextra \
        -Werror -pedantic -fsyntax-only -I. - >&2; then
        echo "ok $number - $name"
      else
        echo "not ok $number - $name"
      fi
    done
  done
done < <(find walguard -name '*.h' -o -name '*.hpp' | sort)
echo "1..$number"

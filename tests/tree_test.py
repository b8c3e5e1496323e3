# SPDX-License-Identifier: MIT
"""tree_test.py TOP: rules that the tree keeps and no compiler checks. Answers in TAP.

Each rule is tried on a tree that breaks it as well (its sabotage twin): a rule that finds nothing
there is a failure.
"""
import os
import pathlib
import re
import sys
import tempfile

# The floors of src/, lowest first: a folder may include its own headers and those of floors below.
FLOORS = [
    {'sqlite_format'},
    {'os'},
    {'ofd_locking', 'coordination'},
    {'guard'},
    {'vfs', 'inspect', 'salvage'},
    {'protect'},
    {'c_api', 'extension', 'preload', 'cli'},
]
COORDINATION_MAY = {'sqlite_format', 'os'}
# The floor that implements a public header; the ones not named here may be included by all.
PUBLIC_FLOOR = {
    'wal_guard.hpp': 'guard',
    'guarded_connection.hpp': 'guard',
    'host_sqlite.hpp': 'c_api',
    'inspect.hpp': 'inspect',
    'salvage.hpp': 'salvage',
    'protect.hpp': 'protect',
    'walguard.h': 'c_api',
}
WITHOUT_RANGES = {'sqlite_format', 'os', 'guard', 'ofd_locking', 'preload'}
LONG_FILE = 400

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
SOURCES = {'.cpp', '.hpp', '.c', '.h'}
WITH_SPDX = SOURCES | {'.build', '.in', '.map', '.py', '.sh', '.wrap'}
PLACES = ('include', 'src', 'tests', 'repro', 'subprojects/packagefiles', '.ci')


def floor_of(folder):
    for height, folders in enumerate(FLOORS):
        if folder in folders:
            return height
    return None


def files(top, places, suffixes):
    for place in places:
        for path in sorted((top / place).rglob('*')):
            if path.is_file() and '__pycache__' not in path.parts and (
                    path.suffix in suffixes or (suffixes is WITH_SPDX and not path.suffix
                                                and path.name != '.gitignore')):
                yield path


def includes(path):
    return INCLUDE.findall(path.read_text(errors='replace'))


def nothing_includes_upward(top):
    for path in files(top, ['src'], SOURCES):
        parts = path.relative_to(top / 'src').parts
        if len(parts) < 2:
            yield f'{path.relative_to(top)}: sources live in the folders of src/'
            continue
        own = floor_of(parts[0])
        if own is None:
            yield f'{path.relative_to(top)}: {parts[0]} has no floor'
            continue
        for name in includes(path):
            if name.startswith('..') or '/../' in name:
                yield f'{path.relative_to(top)}: {name}: include from the root of src/'
                continue
            folder, _, rest = name.partition('/')
            if folder == 'walguard':
                folder = 'coordination' if '/' in rest else PUBLIC_FLOOR.get(rest)
            if folder == parts[0] or floor_of(folder) is None:
                continue
            if floor_of(folder) >= own or (
                    parts[0] == 'coordination' and folder not in COORDINATION_MAY) or (
                    folder == 'coordination' and own < floor_of('c_api')):
                yield f'{path.relative_to(top)}: {parts[0]} must not include {name}'


def ranges_and_boost_stay_out(top):
    for path in files(top, ['src'], SOURCES):
        folder = path.relative_to(top / 'src').parts[0]
        for name in includes(path):
            if name.startswith('boost/') or (
                    name.startswith('range/') and folder in WITHOUT_RANGES):
                yield f'{path.relative_to(top)}: {folder} must not include {name}'


def public_headers_are_portable(top):
    for path in files(top, ['include'], SOURCES):
        for name in includes(path):
            standard = re.fullmatch(r'[a-z_0-9]+', name) or (
                path.suffix == '.h' and name in ('stddef.h', 'stdint.h'))
            sqlite = name == 'sqlite3.h' and path.name == 'host_sqlite.hpp'
            if not (standard or sqlite or name.startswith('walguard/')):
                yield f'{path.relative_to(top)}: a public header must not include {name}'


def sources_begin_with_spdx(top):
    paths = [*files(top, PLACES, WITH_SPDX), *sorted(top.glob('meson*'))]
    for path in paths:
        head = path.read_text(errors='replace').split('\n')[:2]
        if not any('SPDX-License-Identifier: MIT' in line for line in head):
            yield f'{path.relative_to(top)}: no SPDX line at the top'


def long_files(top):
    for path in files(top, PLACES, WITH_SPDX):
        lines = path.read_text(errors='replace').count('\n')
        if lines > LONG_FILE:
            yield f'{path.relative_to(top)}: {lines} lines'


# Each rule, with files that break it, one at a time.
RULES = [
    (nothing_includes_upward, [
        ('src/os/a.cpp', '#include "guard/registry.hpp"'),
        ('src/os/a.hpp', '#  include <walguard/wal_guard.hpp>'),
        ('src/sqlite_format/a.hpp', '#include "os/syscalls.hpp"'),
        ('src/ofd_locking/a.cpp', '#include "guard/registry.hpp"'),
        ('src/guard/a.cpp', '#include "vfs/shim.hpp"'),
        ('src/guard/a.cpp', '#include "../vfs/shim.hpp"'),
        ('src/vfs/a.cpp', '#include "protect/protect.hpp"'),
        ('src/vfs/a.cpp', '#include "coordination/file_lock.hpp"'),
        ('src/coordination/a.cpp', '#include "guard/registry.hpp"'),
        ('src/coordination/a.cpp', '#include "ofd_locking/engine.hpp"'),
        ('src/attic/a.cpp', ''),
    ]),
    (ranges_and_boost_stay_out, [
        ('src/guard/a.cpp', '#include <range/v3/view/filter.hpp>'),
        ('src/inspect/a.cpp', '#include <boost/config.hpp>'),
    ]),
    (public_headers_are_portable, [
        ('include/walguard/a.hpp', '#include <unistd.h>'),
        ('include/walguard/a.hpp', '#include <sys/stat.h>'),
        ('include/walguard/a.hpp', '#include <sqlite3.h>'),
        ('include/walguard/a.hpp', '#include <boost/config.hpp>'),
        ('include/walguard/a.hpp', '#include <range/v3/view/filter.hpp>'),
    ]),
    (sources_begin_with_spdx, [
        ('src/os/a.cpp', 'int a;'),
        ('tests/run', '#!/bin/sh'),
    ]),
]


def finds(rule, path, text):
    with tempfile.TemporaryDirectory() as scratch:
        broken = pathlib.Path(scratch) / path
        os.makedirs(broken.parent)
        broken.write_text(text + '\n')
        return bool(list(rule(pathlib.Path(scratch))))


def main():
    top = pathlib.Path(sys.argv[1])
    number = 0
    for rule, broken in RULES:
        number += 1
        breaches = list(rule(top))
        for breach in breaches:
            print(f'# {breach}')
        print(f'{"not ok" if breaches else "ok"} {number} - {rule.__name__}')
        for path, text in broken:
            number += 1
            found = finds(rule, path, text)
            print(f'{"ok" if found else "not ok"} {number} - '
                  f'{rule.__name__} finds {path} with {text.lstrip("#") or "nothing"}')
    for long_file in long_files(top):
        print(f'# long, is it still one thing? {long_file}')
    print(f'1..{number}')


if __name__ == '__main__':
    main()

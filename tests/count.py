# SPDX-License-Identifier: MIT
"""count.py TESTLOG.json: counts the cases of a `meson test` run, names what failed and what was
skipped, and ends with the line `N passed, N failed[, N skipped]`. Exit status 1: something failed.
That nothing ran is a failure.
"""
import json
import re
import sys

LINE = re.compile(r'(not )?ok\b[ \d]*(?:- )?([^#]*)(?:# (SKIP|TODO)\b ?(.*))?', re.IGNORECASE)


def main():
    passed, failed, skipped = 0, [], []
    try:
        with open(sys.argv[1]) as log:
            tests = [json.loads(line) for line in log]
    except OSError:
        tests = []
    for test in tests:
        name = test['name'].split(' / ', 1)[-1]
        failed_before = len(failed)
        for line in test['stdout'].splitlines():
            match = LINE.match(line)
            if not match:
                continue
            bad, text, directive, reason = match.groups()
            case = f'{name}: {text.strip()}'
            if bad:
                failed.append(case)
            elif directive:
                skipped.append(f'{case}: {reason}')
            else:
                passed += 1
        # A test that died or ran out of time before it could say so.
        if test['result'] not in ('OK', 'SKIP') and len(failed) == failed_before:
            failed.append(f'{name}: {test["result"]}')
    if passed == 0 and not failed:
        failed.append('no test ran')
    for case in skipped:
        print(f'skipped  {case}')
    for case in failed:
        print(f'FAILED   {case}')
    line = f'{passed} passed, {len(failed)} failed'
    print(line + (f', {len(skipped)} skipped' if skipped else ''))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

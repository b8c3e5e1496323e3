# SPDX-License-Identifier: MIT
"""count.py FILE.json: counts the cells of a `walguard-repro run --json FILE`: `N passed, N failed`
(and `, N skipped`). A cell passes when what was seen is what its `expect` lines say.
"""
import json
import sys


def main():
    passed = failed = skipped = 0
    with open(sys.argv[1]) as report:
        cases = json.load(report)['cases']
    for case in cases:
        if case['outcome'] == 'skipped':
            skipped += 1
        elif case['outcome'] == case['expected']:
            passed += 1
        else:
            failed += 1
    print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' if skipped else ''))
    return 1 if failed or passed == 0 else 0


if __name__ == '__main__':
    sys.exit(main())

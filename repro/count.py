# SPDX-License-Identifier: MIT
"""count.py FILE.json: counts the cells of a `walguard-repro run --json FILE` in one line,
`N passed, N failed[, N skipped]`. A cell passes when what was seen is what its `expect` lines say;
a complaint about a scenario as a whole counts as a failure.
"""
import json
import sys


def main():
    with open(sys.argv[1]) as file:
        report = json.load(file)
    skipped = sum(case['outcome'] == 'skipped' for case in report['cases'])
    passed = sum(case['as_expected'] for case in report['cases']) - skipped
    failed = len(report['cases']) - passed - skipped + len(report['complaints'])
    print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' if skipped else ''))
    return 1 if failed or passed == 0 else 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""must_fail.py TWIN [--dies-by=SIGNAL] CASE...

A twin is a test program in which one function of the library has been replaced by one that does not
protect. Each named case must fail in it, by an assertion of its own or by the named signal: a case
that passes does not test the protection, and one that throws or crashes otherwise proves nothing.
"""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import boost_run  # noqa: E402

# A failed check, fatal or not; an uncaught exception is reported as `fatal error` without `check`.
FAILED_CHECK = re.compile(r'(?<!fatal )error: in "|fatal error: in "[^"]*": critical check ')


def verdict(twin, case, dies_by):
    """Returns (whether the case failed as it must, how it went)."""
    result = boost_run.run(twin, ['--run_test=' + case])
    sys.stderr.write(result.log)
    if dies_by is not None:
        return result.status == -signal.Signals[dies_by], boost_run.how_it_ended(result.status)
    if not result.complete:
        return False, 'died: ' + boost_run.how_it_ended(result.status)
    ran = {name: outcome for name, (outcome, _, _) in result.cases.items() if outcome != 'skipped'}
    if not ran:
        # Where the test itself is skipped there is nothing to prove.
        return (True, '# SKIP skipped') if result.skipped else (False, 'no such case')
    passed = [name for name, outcome in ran.items() if outcome == 'passed']
    if len(passed) == len(ran):
        return False, 'passes all the same'
    if not FAILED_CHECK.search(result.log):
        return False, 'ended by an exception, not by a failed check'
    return True, 'fails, as it must'


def main():
    twin, *cases = sys.argv[1:]
    dies_by = None
    if cases and cases[0].startswith('--dies-by='):
        dies_by = cases.pop(0).partition('=')[2]
    for number, case in enumerate(cases, 1):
        good, how = verdict(twin, case, dies_by)
        print(f'{"ok" if good else "not ok"} {number} - {case} {how}')
    print(f'1..{len(cases)}')


if __name__ == '__main__':
    main()

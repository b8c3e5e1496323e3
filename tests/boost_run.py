# SPDX-License-Identifier: MIT
"""Runs a Boost.Test program and learns from its own report what became of every case.

As a program, boost_run.py [--without=CASE...] PROGRAM [ARGUMENT...]: runs all cases (or those that
the arguments select) and answers in TAP, one line a case, so that every case is counted and a
program in which nothing ran is not taken for a pass. --without names cases that the instrumentation
cannot run: they count as skipped.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SKIPPED = re.compile(r'Test (?:case|suite) "([^"]+)" is skipped because (.*)')
STEP = re.compile(r'(Entering|Leaving) test case "([^"]+)"| error: in "')


class Run:
    """What a run left: `cases` maps a case's path to (result, assertions passed, failed)."""

    def __init__(self, status, log, report, selected):
        self.status = status
        self.log = log
        self.complete = report is not None
        self.cases = {}
        self.unfinished = None  # the case that was running when the program ended without a report
        self.skipped = dict(SKIPPED.findall(log))  # with Boost's reason
        if report is not None:
            for top in report:
                self._collect(top, [])
        else:
            self._collect_from_log()
        if selected:  # what was not selected counts as disabled: of no interest
            self.skipped = {name: why for name, why in self.skipped.items() if why != 'disabled'}

    def _collect(self, suite, path):
        for unit in suite:
            name = path + [unit.get('name')]
            if unit.tag == 'TestSuite':
                self._collect(unit, name)
            elif unit.tag == 'TestCase':
                self.cases['/'.join(name)] = (
                    unit.get('result'),
                    int(unit.get('assertions_passed')),
                    int(unit.get('assertions_failed')),
                )

    def _collect_from_log(self):
        failures = 0
        for what, name in STEP.findall(self.log):
            if what == 'Entering':
                self.unfinished, failures = name, 0
            elif what == 'Leaving':
                self.cases[name] = ('failed' if failures else 'passed', 1, failures)
                self.unfinished = None
            else:
                failures += 1


def how_it_ended(status):
    if status < 0:
        return 'killed by ' + signal.Signals(-status).name
    return f'exit status {status}'


def run(program, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        report_file = os.path.join(scratch, 'report.xml')
        # A file, not a pipe: a process that a test leaves behind must not keep us waiting for EOF.
        with open(os.path.join(scratch, 'log'), 'w+', errors='replace') as log_file:
            child = subprocess.Popen(
                [program, *arguments, '--log_level=unit_scope', '--color_output=no',
                 '--catch_system_errors=no', '--report_format=XML', '--report_level=detailed',
                 f'--report_sink={report_file}'],
                stdin=subprocess.DEVNULL, stdout=log_file, stderr=subprocess.STDOUT)

            def read_log():
                log_file.seek(0)
                return log_file.read()

            def on_terminate(_signal, _frame):  # the time limit: tell how far it came
                child.kill()
                sys.stderr.write(read_log())
                sys.exit(1)

            signal.signal(signal.SIGTERM, on_terminate)
            status = child.wait()
            log = read_log()
        try:
            report = ElementTree.parse(report_file).getroot()
        except (OSError, ElementTree.ParseError):
            report = None
        selected = any(argument.startswith('--run_test') for argument in arguments)
        return Run(status, log, report, selected)


def tap_lines(result):
    for name, (verdict, passed, failed) in result.cases.items():
        if verdict == 'skipped':
            yield True, f'{name} # SKIP {result.skipped.get(name, "")}'
        elif verdict == 'passed' and passed == 0:
            yield False, f'{name} checked nothing'
        elif verdict == 'passed':
            yield True, name
        else:
            yield False, f'{name} {verdict}, {failed} assertions failed'
    for name, reason in result.skipped.items():  # disabled ones are not in the report
        if not any(case == name or case.startswith(name + '/') for case in result.cases):
            yield True, f'{name} # SKIP {reason}'
    if not result.complete:
        yield False, f'{result.unfinished or "the program"} died: {how_it_ended(result.status)}'
    elif not any(verdict != 'skipped' for verdict, _, _ in result.cases.values()):
        yield False, 'no case ran'
    elif result.status != 0 and all(verdict in ('passed', 'skipped')
                                    for verdict, _, _ in result.cases.values()):
        # A sanitizer's report at exit, or a destructor that crashed after the last case.
        yield False, f'after the last case: {how_it_ended(result.status)}'


def main():
    arguments = sys.argv[1:]
    without = []
    while arguments[0].startswith('--without='):
        without.append(arguments.pop(0).partition('=')[2])
    result = run(arguments[0], [*arguments[1:], *('--run_test=!' + case for case in without)])
    sys.stderr.write(result.log)
    lines = list(tap_lines(result))
    lines += [(True, f'{case} # SKIP the sanitizer cannot run it') for case in without]
    for number, (good, text) in enumerate(lines, 1):
        print(f'{"ok" if good else "not ok"} {number} - {text}')
    print(f'1..{len(lines)}')


if __name__ == '__main__':
    main()

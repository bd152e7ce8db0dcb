"""Runs checkov on templates, and takes from a file which of its checks are not to hold, and why.

    check.py SKIPPED.json TEMPLATE...

Fails for each finding that is not in the file, and for each check in the file that finds nothing any more.
"""

import json
import sys
from collections import Counter

from checkov.cloudformation.runner import Runner
from checkov.runner_filter import RunnerFilter


def main(reasons: str, templates: list[str]) -> int:
    with open(reasons, encoding="utf-8") as file:
        skipped: dict[str, str] = json.load(file)
    report = Runner().run(root_folder=None, files=templates, runner_filter=RunnerFilter(framework=["cloudformation"]))
    found = Counter(record.check_id for record in report.failed_checks)
    faults = [f"{path}: checkov cannot read it" for path in report.parsing_errors]
    for record in report.failed_checks:
        if record.check_id not in skipped:
            faults.append(f"{record.file_path} {record.resource}: {record.check_id} {record.check_name}")
    for check in skipped:
        if not found[check]:
            faults.append(f"{reasons}: {check} finds nothing any more: take it out")
    if not report.passed_checks:
        faults.append("checkov checked nothing")
    for fault in faults:
        print(fault, file=sys.stderr)
    left = ", ".join(f"{check} ({count})" for check, count in sorted(found.items()))
    print(f"checkov: {len(report.passed_checks)} passed; skipped with a reason: {left}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""Built-in reports of every run below some folders: seconds each, failures, and what in their words no measure supports.

Run ``python benchmarks/reports.py [FOLDER]...``; without a folder it takes every run that this repository ships. Each report is
written by the command line in a process of its own, so the seconds hold the start of Python too. Held to the measures are the summary,
the lists, the reason for the checkpoint, and the statement of each finding, the last against that finding's own measures and steps.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evals.lab.own_sentences import ground, unmeasured
from rl_advisor.answers.run_folders import runs_below
from rl_advisor.api import assess
from rl_advisor.finding import Assessment

REPOSITORY = Path(__file__).parent.parent
SHIPPED = ("examples", "evals/corpus/grpo/runs", "evals/corpus/classic/runs", "tests/data/golden")


def written(run: Path, out: Path) -> tuple[float, float, str]:
    """Seconds that ``rl-advisor report`` took by the clock and of the processor, and what went wrong."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "rl_advisor", "report", run, "--out", out], capture_output=True, text=True, check=False)
    spent, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    good = done.returncode == 0 and out.exists() and out.stat().st_size
    return spent, worked, "" if good else (done.stderr.strip().splitlines() or ["nothing written"])[-1]


def checked(a: Assessment) -> tuple[int, list[str]]:
    """How many numbers and directions the words of an assessment hold, and those that no measure supports."""
    total, loose = 0, []
    for text in (a.summary, a.best_checkpoint.why, *a.ruled_out, *a.could_not_see, a.next_experiment.do):
        claims = ground(text, a)
        total += len(claims)
        loose += [f"{c.text!r} ({c.why}) in: {text[max(0, c.start - 60) : c.end + 20]}" for c in claims if not c.supported]
    for f in a.findings:
        loose += [f"{said} in the statement of {f.pattern}: {f.statement}" for said in unmeasured(f)]
    return total, loose


def main() -> None:
    """Write, time and check the reports; prints one line a fault and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[REPOSITORY / name for name in SHIPPED])
    parser.add_argument("--each", action="store_true", help="a line for every run")
    asked = parser.parse_args()
    runs = sorted({run for folder in asked.folders for run in runs_below(folder) or [folder]})
    seconds, work, sizes, failed, faults, total = [], [], [0], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.html"
        for run in runs:
            out.unlink(missing_ok=True)
            spent, worked, wrong = written(run, out)
            seconds.append(spent)
            work.append(worked)
            if wrong:
                failed += 1
                print(f"{run}: {wrong}")
                continue
            sizes.append(out.stat().st_size)
            a = assess(run)
            count, loose = checked(a)
            total, faults = total + count, faults + len(loose)
            print("".join(f"{run}: {line}\n" for line in loose), end="")
            if asked.each:
                print(f"{run}: {spent:.2f} s ({worked:.2f} s of the processor), {sizes[-1]} bytes, {a.verdict}, {count} claims")
    print(f"{len(runs)} runs, {failed} reports failed; {faults} of {total} numbers and directions rest on no measure;")
    for kind, took in (("by the clock", seconds), ("of the processor, whatever else the machine does", work)):
        print(f"seconds {kind}: median {statistics.median(took):.2f}, most {max(took):.2f}")
    print(f"largest page {max(sizes) / 1e6:.2f} MB")
    sys.exit(bool(failed or faults))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Each client that is small enough for every test run does all that abilities.py lists, with the
program itself, on both tiers. `make bench-clients` tries the others too, and prints the table.
What is found here must be what the table in docs/clients.md says.

    test_abilities.py [word ...]      only clients and abilities with these words in their names"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from abilities import ABILITIES, TIERS, Bench, judge
from clients import CLIENTS, ROOT, result_row

PAGE = ROOT / "docs" / "clients.md"


def chosen(names):
    if not names:
        return [client for client in CLIENTS if client.place == "light"]
    return [client for client in CLIENTS if any(word in client.title for word in names)]


def count(client, tier, results, show):
    """(passed, failed); prints what failed, and with `show` all."""
    failures = [ability for ability, (mark, _) in results.items() if mark == "no"]
    for ability, (mark, why) in results.items():
        if ability in failures:
            print(f"FAIL {client.title}, {tier}, {ability}: {why}", flush=True)
        elif show:
            print(f"{mark:4} {client.title}, {tier}, {ability}", flush=True)
    row = result_row(client.name, client.version(), client.api, tier, ABILITIES, results)
    if len(results) == len(ABILITIES) and row not in PAGE.read_text().splitlines():
        print(f"FAIL {PAGE.relative_to(ROOT)} has no row: {row}", flush=True)
        return len(results) - len(failures), len(failures) + 1
    return len(results) - len(failures), len(failures)


def main():
    words = sys.argv[1:]
    abilities = [word for word in words if word in ABILITIES]
    tiers = [word for word in words if word in TIERS] or TIERS
    names = [word for word in words if word not in ABILITIES and word not in TIERS]
    passed = failed = skipped = 0
    with Bench() as bench:
        for client in chosen(names):
            missing = client.missing(install=client.place == "light")
            if missing:
                print(f"SKIP {client.title}: {missing}")
                skipped += 1
                continue
            for tier, results in judge(client, bench, tiers, abilities).items():
                counts = count(client, tier, results, bool(words))
                passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed + skipped else 0


if __name__ == "__main__":
    sys.exit(main())

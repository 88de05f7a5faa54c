#!/usr/bin/env python3
"""The default model's card shows messages to paste, with what comes back. It does come back."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "bench")]
from check import case, equal, main
from endpoint import LOCAL_ONLY, ask_all, user
from tandem import Tandem

CARD = ROOT / "models" / "nano" / "README.md"


def examples() -> list[tuple[str, str]]:
    """(message, answer) of each row."""
    part = CARD.read_text(encoding="utf-8").split("## Forty to paste")[1].split("\n## ")[0]
    return re.findall(r"^\| `(.+?)` \| (.+) \|$", part, re.MULTILINE)


@case
def test_each_message_of_the_card_has_its_answer() -> None:
    rows = examples()
    equal(len(rows), 40)
    with Tandem(LOCAL_ONLY) as tandem:
        replies = ask_all(tandem, [user(message) for message, _ in rows])
    for (message, answer), reply in zip(rows, replies):
        equal(reply.text, answer, message)


if __name__ == "__main__":
    main()

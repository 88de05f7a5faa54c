"""Ten long documents with a question each, every other sentence of which has a canary of its own,
and a stand-in for the tier that plans. It knows the words in which a good reader would look for the
answer, and answers with the quotation that looks like one: what is tested is what leaves and what
the device finds, not what a large model makes of it."""

import json
import random
import re
from dataclasses import dataclass
from typing import Any

FILLER = [
    "The parties keep {w} of all {v} that concern {c}, and hand them over on request.",
    "Nothing in this part limits {c}, unless {w} and {v} were agreed in writing before.",
    "Where {w} is late, {c} is told of it, and the {v} are put off by as many days.",
    "For {c} the usual {v} hold; they were last changed when {w} moved to another building.",
    "{c} was asked about {w} in spring, but the {v} that were sent did not say enough.",
    "After the meeting {w} and {c} went through the {v} once more, page by page.",
]
THINGS = ["insurance", "parking", "the archive", "delivery", "the garden", "printing", "catering"]
MORE = ["notes", "forms", "records", "rules", "lists", "orders", "receipts", "drawings"]


@dataclass
class Document:
    name: str
    question: str
    words: list[list[str]]  # of the jobs, round by round
    fact: str
    answer: str  # stands in the fact
    text: str = ""
    canaries: tuple[str, ...] = ()


# The questions do not use the words of the facts: whoever plans has to think of them.
TEN = [
    ("lease", "How much does the tenant owe each month?", [["rent", "monthly", "EUR"]],
     "The rent amounts to 1,250 EUR and is due on the third working day.", "1,250 EUR"),
    ("purchase", "When must the machine be there?",
     [["delivery", "delivered", "arrive"], ["seller", "machine", "latest"]],
     "The seller has the press delivered to Ulm by 14 March 2027 at the latest.", "14 March 2027"),
    ("minutes", "Who looks after the new branch?", [["branch", "responsible", "manager"]],
     "It was decided that Ms Okafor becomes responsible for the branch in Porto.", "Okafor"),
    ("manual", "How hot may it get inside?", [["temperature", "degrees", "maximum"]],
     "The maximum operating temperature of the chamber is 85 degrees Celsius.", "85 degrees"),
    ("policy", "How long must a worker stay before leave is paid?",
     [["paid leave", "waiting", "months"], ["holiday", "employment", "entitled"]],
     "Holiday is granted with full pay once the employment has lasted six weeks.", "six weeks"),
    ("report", "Which medicine was stopped?", [["discontinued", "stopped", "medication"]],
     "Because of dizziness metoprolol was discontinued on the second day.", "metoprolol"),
    ("tender", "What happens when the work is late?", [["penalty", "delay", "late completion"]],
     "A penalty of 0.3 percent of the price is due for each day of delay.", "0.3 percent"),
    ("statutes", "How many members must come for a vote?", [["quorum", "present", "votes"]],
     "A quorum exists when nineteen members are present or represented.", "nineteen"),
    ("log", "Why did the server restart?", [["restart", "reboot", "cause"]],
     "09:41:07 node7 restarted; cause: watchdog fired after the disk queue stood still.",
     "watchdog"),
    ("Mietvertrag", "Wie lange ist die Kündigungsfrist?", [["Kündigung", "Frist", "Monate"]],
     "Das Mietverhältnis kann mit einer Frist von neun Monaten gekündigt werden.",
     "neun Monaten"),
]  # fmt: skip


def ten_documents(seed: int = 1, paragraphs: int = 40) -> list[Document]:
    dice = random.Random(seed)
    made = []
    for name, question, words, fact, answer in TEN:
        lines, canaries = [], []
        place = dice.randrange(paragraphs)
        for i in range(paragraphs):
            sentences = []
            for _ in range(3):
                canary = "QZ" + "".join(dice.choice("bcdfghjklmnpqrstvwxz") for _ in range(10))
                canaries.append(canary)
                sentences.append(
                    dice.choice(FILLER).format(w=dice.choice(THINGS), v=dice.choice(MORE), c=canary)
                )
            if i == place:
                sentences.insert(1, fact)
            lines.append(f"{i + 1}. " + " ".join(sentences))
        made.append(
            Document(name, question, words, fact, answer, "\n".join(lines), tuple(canaries))
        )
    return made


@dataclass
class Planner:
    """What the tier beyond makes of a request about the document."""

    document: Document

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        told = [str(m["content"]) for m in messages if m["role"] != "system"]
        said = "\n".join(told)
        for number, quote in re.findall(r'\[(\d+)\] "((?:[^"\\]|\\.)*)"', said):
            if self.document.answer in quote:
                return f"It is {self.document.answer} [{number}]."
        if self.document.answer in said:  # the whole text
            return f"It is {self.document.answer}."
        rounds = sum(message["role"] == "assistant" for message in messages)
        if rounds >= len(self.document.words):
            return "The text does not say."
        return json.dumps({"jobs": [{"words": self.document.words[rounds]}]})


def unquoted(text: str, quotes: list[dict[str, Any]]) -> list[str]:
    """What of the first document was not quoted."""
    parts, at = [], 0
    for quote in sorted(quotes, key=lambda q: int(q["from"])):
        parts.append(text[at : quote["from"]])
        at = quote["to"]
    return [*parts, text[at:]]


def leaked(received: bytes, parts: list[str]) -> list[str]:
    """The surroundings of canaries in those parts that were received. The canary alone may be a
    word that the planner has asked for."""
    found = []
    for part in parts:
        for canary in re.finditer("QZ[a-z]{10}", part):
            for window in (
                part[max(0, canary.start() - 6) : canary.end()],
                part[canary.start() : canary.end() + 6],
            ):
                if len(window) > 14 and json.dumps(window)[1:-1].encode() in received:
                    found.append(window)
    return found

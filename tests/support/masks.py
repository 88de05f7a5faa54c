"""What differs from one run to the next in what the program prints, and is not compared."""

import re

from screen import flat

MASKS = (
    (r"\d+(\.\d+)? ms", "N ms"),
    (r"\d+\.\d+ USD", "N USD"),
    (r"\d+ bytes", "N bytes"),
    (r"confidence \d\.\d+", "confidence N"),
    (r"probability \d\.\d+", "probability N"),
    (r"\d+ prompt and \d+ answer tokens", "N prompt and N answer tokens"),
    (r"ex_[0-9a-f ]{24,26}", "ex_ID "),
    (r"\b\d{4}-\d\d-\d\dT[\d:. ]+Z", "TIME"),
    (r"Trace [0-9a-f ]{32,34}", "Trace ID"),
    (r"policy [0-9a-f]{16}", "policy ID"),
    (r"Tandem \d+\.\d+\.\d+", "Tandem VERSION"),
    (r"(\d+\.\d+ ){5}\d+\.\d+", "TIMES"),
    (r"pulling tiny.*", "BAR"),
    (r"\S*/tandem-(models|chat)-\w+", "FOLDER"),
    (r" +([,.;)\]])", r"\1"),
)


def masked(text: str) -> str:
    text = flat(text)
    for pattern, name in MASKS:
        text = re.sub(pattern, name, text)
    return flat(text)

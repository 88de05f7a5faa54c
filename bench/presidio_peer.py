#!/usr/bin/env python3
"""Presidio's findings in texts, for bench_privacy.py, run by a Python that has it:
PRESIDIO_PYTHON=/path/to/venv/bin/python.

Reads {"text": ...} a line, prints first {"version", "model"}, then {"spans": [{"type", "score",
"char_start", "char_end"}]} a line, last {"cpu_seconds"}, the processor time of the texts without
that of its start. Its default engine with the largest English spaCy model that is installed;
without any, a blank one: then only its patterns speak."""

import json
import sys
import time
from typing import Any

import presidio_analyzer
import spacy
import spacy.util
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine

MODELS = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")


class Loaded(SpacyNlpEngine):
    """An engine around a pipeline that is loaded already."""

    def __init__(self, pipeline: Any) -> None:
        super().__init__(ner_model_configuration=NerModelConfiguration())
        self.nlp = {"en": pipeline}


def main() -> int:
    model = next((name for name in MODELS if name in spacy.util.get_installed_models()), None)
    engine = AnalyzerEngine(
        nlp_engine=Loaded(spacy.load(model) if model else spacy.blank("en")),
        supported_languages=["en"],
    )
    print(
        json.dumps(
            {"version": getattr(presidio_analyzer, "__version__", "") or version(), "model": model}
        ),
        flush=True,
    )
    begin = time.process_time()
    for line in sys.stdin:
        found = engine.analyze(text=json.loads(line)["text"], language="en")
        found.sort(key=lambda r: (-r.score, r.start - r.end))
        print(
            json.dumps(
                {
                    "spans": [
                        {
                            "type": r.entity_type,
                            "score": r.score,
                            "char_start": r.start,
                            "char_end": r.end,
                        }
                        for r in found
                    ]
                }
            )
        )
    print(json.dumps({"cpu_seconds": time.process_time() - begin}))
    return 0


def version() -> Any:
    from importlib.metadata import version as installed

    return installed("presidio-analyzer")


if __name__ == "__main__":
    sys.exit(main())

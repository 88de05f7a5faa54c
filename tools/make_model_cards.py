#!/usr/bin/env python3
"""Writes src/tier/cards/model_cards.txt: prices and abilities of providers' models.

The source is the table that LiteLLM ships (MIT licence), which names for each price the page that
it was taken from. To bring it up to date, from any folder:

    pip download --no-deps litellm && unzip litellm-*.whl 'litellm/model_prices*'
    python3 tools/make_model_cards.py litellm/model_prices_and_context_window_backup.json \\
        "litellm 1.110.2" 2026-11-27 > src/tier/cards/model_cards.txt
"""

import json
import re
import sys
from typing import Any

# Their provider, what stands before the model's name there, and our kind.
PROVIDERS = [
    ("openai", "", "openai"),
    ("azure", "azure/", "azure"),
    ("anthropic", "", "anthropic"),
    ("gemini", "gemini/", "gemini"),
    ("vertex_ai-language-models", "vertex_ai/", "vertex"),
    ("bedrock_converse", "", "bedrock"),
    ("groq", "groq/", "groq"),
    ("together_ai", "together_ai/", "together"),
    ("mistral", "mistral/", "mistral"),
    ("deepseek", "deepseek/", "deepseek"),
    ("xai", "xai/", "xai"),
    ("openrouter", "openrouter/", "openrouter"),
]
ABILITIES = [
    ("supports_function_calling", "tools"),
    ("supports_vision", "image"),
    ("supports_audio_input", "audio"),
    ("supports_pdf_input", "file"),
    ("supports_response_schema", "schema"),
    ("supports_reasoning", "reasoning"),
    ("supports_adaptive_thinking", "adaptive"),
]
HEAD = """\
# Prices and abilities of providers' models: what the configuration leaves out. It wins wherever it
# says something. Made by tools/make_model_cards.py; the build packs it.
#
# kind model context_tokens output_tokens input_usd output_usd cached_usd until abilities
#
# Prices are US dollars for a million tokens of the smallest tier of a price list, without discounts
# for batches; "-": not known. until: the day on which the provider retires the model.
# Abilities: tools, image, audio, file (PDF), schema (answers held to a JSON schema), reasoning,
# adaptive (Anthropic: the model decides how much it thinks), fixed (it takes no temperature).
"""


def price(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return f"{float(value) * 1e6:.6g}" if isinstance(value, (int, float)) else "-"


def count(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return str(int(value)) if isinstance(value, (int, float)) and value > 0 else "0"


def line(kind: str, model: str, row: dict[str, Any]) -> str:
    words = [word for name, word in ABILITIES if row.get(name)]
    if row.get("supports_sampling_params") is False:
        words.append("fixed")
    until = str(row.get("deprecation_date") or "-")
    return " ".join(
        [
            kind,
            model,
            count(row, "max_input_tokens"),
            count(row, "max_output_tokens"),
            price(row, "input_cost_per_token"),
            price(row, "output_cost_per_token"),
            price(row, "cache_read_input_token_cost"),
            until if re.fullmatch(r"\d{4}-\d\d-\d\d", until) else "-",
            ",".join(words) or "-",
        ]
    )


def main() -> None:
    path, source, date = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    rows: dict[tuple[str, str], str] = {}
    for name, row in table.items():
        for provider, prefix, kind in PROVIDERS:
            if row.get("litellm_provider") != provider or row.get("mode") not in (
                "chat",
                "responses",
            ):
                continue
            model = name.removeprefix(prefix)
            if "/" in model and kind in ("openai", "anthropic", "gemini", "vertex", "bedrock"):
                continue  # the price in one region, or at another seller
            if not re.fullmatch(r"[\x21-\x7e]{1,120}", model) or '"' in model or "\\" in model:
                continue
            if not name.startswith(prefix) and (kind, model) in rows:
                continue
            rows[kind, model] = line(kind, model, row)
    print(HEAD + f"as_of {date}\nsource {source}")
    for key in sorted(rows):
        print(rows[key])


main()

"""Runs a model file in this process: python local.py model.gguf "What can you do?" """

import sys

from tandem_llm import Engine

with Engine(sys.argv[1]) as engine:
    print(f"{engine.info.name}, {engine.info.parameter_count:,} parameters")
    with engine.stream(sys.argv[2], max_tokens=64, temperature=0) as tokens:
        for piece in tokens:
            print(piece, end="", flush=True)
    if tokens.result:
        print(f"\nconfidence {tokens.result.confidence:.2f}")
    scores = engine.classify(sys.argv[2], ["a question", "an order"])
    print(f"this is {next(iter(scores))}")

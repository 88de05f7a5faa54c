"""The sets of labels that nano knows, with the words that it was asked in: metadata by which
`tandem classify` and /tandem/v1/classify offer them by name (src/engine/session/classifier.c).

    python label_sets.py nano.gguf    # writes them into a file that has none; tensors stay
"""

import argparse
import pathlib

import corpora
import task_language
import task_sentiment
from gguf_writer import STRING, Writer, insert_pairs

# The words stand before the text, so that they are computed once for many texts. They are phrasings
# of training. Of eight each, these had the most right on validation lines, by less than a point.
PROMPTS = {
    "intents": "Classify the intent: {text}",
    "banking": "Label this banking support request: {text}",
    "sentiment": "Classify the sentiment of this text.\n\n{text}",
    "language": "Identify the language of this text.\n\n{text}",
}


def sets():
    """Labels by the name of their set."""
    return {
        "intents": corpora.clinc_labels(),
        "banking": corpora.banking_labels(),
        "sentiment": task_sentiment.LABELS,
        "language": task_language.LABELS,
    }


def add_sets(out, known):
    """Adds the metadata. known: the texts of the vocabulary's tokens; each label is one of them."""
    out.add_array("tandem.labels.sets", STRING, list(PROMPTS))
    for name, labels in sets().items():
        missing = [label for label in labels if label not in known]
        assert not missing, f"{name}: no tokens for {missing}"
        out.add_array(f"tandem.labels.{name}", STRING, labels)
        out.add(f"tandem.labels.{name}.prompt", STRING, PROMPTS[name])


def main():
    from gguf_reader import read  # needs torch, which export.py has loaded already

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    path = parser.parse_args().file
    keys, _ = read(path)
    assert "tandem.labels.sets" not in keys, f"{path} has its sets of labels already"
    out = Writer()
    add_sets(out, set(keys["tokenizer.ggml.tokens"]))
    insert_pairs(path, out.pairs)


if __name__ == "__main__":
    main()

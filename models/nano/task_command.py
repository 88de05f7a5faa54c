"""Commands and questions that need a tool, typed where there is none: not ours.

"Set a timer for ten minutes" reads like a job, but without tools this model can do nothing about
it. Posts, sentences and texts that stand alone ask for nothing, so no label is right for them.
"""

import task_language
import task_sentiment
from pools import pseudo_word, sentence_case, weighted
from task_other import SENTENCE
from tool_composed import ELSEWHERE, HELD, TRAINED, Tool
from tool_requests import polished, request

OURS = {"detect_language"}  # the model does this itself


def command(rng, split):
    """A request as task_tools makes it, in any language."""
    if rng.random() < 0.15:
        function, _, said = rng.choice(ELSEWHERE)
        text = rng.choice(said)
        for p in function.required:
            value = p.kind.make(rng, "text")[0]
            text = text.replace(f"{{{p.key}}}", value)
        return text if "{" not in text else f"{pseudo_word(rng)}?"
    function = rng.choice(TRAINED if split == "train" else HELD)
    if function.names[0] in OURS:
        return command(rng, split)
    return polished(rng, request(rng, Tool(rng, function)).text, split)


def statement(rng, split):
    """A text that asks for nothing."""
    if rng.random() < 0.5:
        text, _ = task_sentiment.draw(rng, rng.choice(task_sentiment.LABELS), split)
        return text
    languages = [name for name in task_language.LABELS if name != "English"]
    return sentence_case(task_language.some_text(rng, rng.choice(languages), split))


def example(rng, split="train"):
    """(messages, answer)"""
    return [("user", weighted(rng, (7, command), (3, statement))(rng, split))], SENTENCE

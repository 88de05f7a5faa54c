"""What the default model was trained to do, and what it was not, as questions of tests."""

import json

ASKED = "Classify the intent: "
CLEAR = ASKED + "set an alarm for seven"
INTENTS = {
    ASKED + text: intent
    for text, intent in {
        "what is my balance": "balance",
        "set an alarm for seven": "alarm",
        "whats the weather like": "weather",
        "play some music": "play_music",
        "translate good morning to french": "translate",
        "what time is it": "time",
    }.items()
}
PLACES = ["", " please", " now", " today", " for me", " again", " if you can", " quickly"]
FOREIGN = [
    "prove lemma {}",
    "write chapter {} of a novel",
    "who won race {}",
    "derive formula {}",
    "sort the list of {} items",
    "why is {} prime",
]


def calibration_questions() -> str:
    """120 questions as JSON lines, of which the default model knows about half."""
    lines: list[dict[str, object]] = [
        {"prompt": text + place, "check": "words", "answer": [intent, intent.replace("_", " ")]}
        for text, intent in INTENTS.items()
        for place in [*PLACES, " then", " my friend"]
    ]
    lines += [
        {"prompt": text.format(number + 3), "check": "number", "answer": -1}
        for number in range(10)
        for text in FOREIGN
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)

"""What the default model was trained to do, and what it was not, as questions of tests."""

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

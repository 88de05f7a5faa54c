"""Greetings, thanks, goodbye, and what this model is and can do.

CLINC150 has intents for these too (greeting, thank_you, what_can_i_ask_you). Only the clearest
short forms listed here are answered as talk; every other bare utterance gets its label, and an
instruction to classify always gets the label. The forms are a closed list, so nothing is held out.
"""

CAN = (
    "I can label intents and sentiment, name the language of a text, extract data, names and"
    " private details as JSON, bring dates, amounts and units into one form, reformat text, and do"
    " small sums. Other questions go to a larger model."
)
HELLO = "Hello! " + CAN
WHO = "I am Tandem's small on-device model. " + CAN
WELCOME = "You're welcome!"
BYE = "Goodbye!"

TALK = {
    HELLO: [
        "hi",
        "hello",
        "hey",
        "hi there",
        "hello there",
        "hey there",
        "good morning",
        "good afternoon",
        "good evening",
        "greetings",
        "hello tandem",
        "hi tandem",
        "howdy",
        "hey tandem",
        "hello!",
        "hi, tandem",
        "hello, nice to meet you",
    ],
    WELCOME: [
        "thanks",
        "thank you",
        "thanks a lot",
        "thank you very much",
        "many thanks",
        "thx",
        "thank you so much",
        "great, thanks",
        "ok thanks",
        "perfect, thank you",
        "ty",
        "thanks, tandem",
        "cool, thanks",
        "thank you tandem",
    ],
    BYE: [
        "bye",
        "goodbye",
        "bye bye",
        "good night",
        "see you",
        "see you later",
        "good bye",
        "bye tandem",
        "see you tomorrow",
        "ok bye",
    ],
    CAN: [
        "what can you do",
        "what can you do for me",
        "what can you help me with",
        "help",
        "how can you help me",
        "what do you do",
        "what are you able to do",
        "what are your capabilities",
        "what tasks can you do",
        "what are you good at",
        "list your capabilities",
        "what can i use you for",
    ],
    WHO: [
        "who are you",
        "what are you",
        "tell me about yourself",
        "introduce yourself",
        "what model are you",
        "which model are you",
        "what is tandem",
        "are you chatgpt",
        "who is tandem",
        "describe yourself",
        "which language model are you",
        "what ai are you",
    ],
}
CLEAR = {text.strip(" ?!.") for forms in TALK.values() for text in forms}


def is_talk(utterance):
    """True for the forms that are answered as talk when they stand alone."""
    return utterance.lower().strip(" ?!.") in CLEAR


def example(rng, split="train"):
    """(messages, answer)"""
    answer = rng.choice(list(TALK))
    text = rng.choice(TALK[answer])
    style = rng.random()
    if style < 0.55:
        text = text[:1].upper() + text[1:]
    elif style < 0.6:
        text = text.upper()
    question = answer in (CAN, WHO) and text.lower().startswith(("wh", "how", "are"))
    if rng.random() < 0.6 and text[-1] not in "!?.":
        text += "?" if question else rng.choice(["!", ".", "!", ""])
    return [("user", text)], answer

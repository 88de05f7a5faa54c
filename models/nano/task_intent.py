"""Task 1: intent classification over CLINC150 (Larson et al. 2019, CC BY 3.0).

The answer is the bare label, one token, and only where it is asked for: by a system prompt that
says what to do, or by an instruction around the utterance. A message that stands alone asks for
what it says, so it is not ours, unless it is one of the model's own jobs, which other tasks teach.
Only the training split is trained on.
"""

import choices
import intent_variants
from corpora import clinc, clinc_labels
from pools import fill, lines, sentence_case
from soft_lines import draw

NAME = "intent"
TEACHER_PASSES = 4

SYSTEM = lines("""
You are an intent classifier. Answer with the label.
You are an intent classifier. Answer with the label only.
Classify the intent of the user's message. Reply with the label only.
You label user messages with their intent.
Reply with the intent of each message and nothing else.
Your job is to detect the intent of a message. Output one label.
You are a router for a virtual assistant. Output the intent label of the user's request.
Classify each user utterance into one of the known intents.
Return only the intent label.
You classify requests. Answer with one label.
Intent detection. One label per message.
For every message, output its intent.
You are a classifier for a voice assistant.
Identify the intent behind the user's message and respond with only the label.
Given a user utterance, respond with the name of its intent.
You work in a call centre and tag each message with its intent.
Act as an intent classification model.
Detect the user's intent. Answer in one word.
""")

INSTRUCTION = lines("""
Classify the intent: {u}
What is the intent of this message? {u}
Which intent is this: "{u}"
Intent of: {u}
Classify the intent of this utterance: {u}
Classify this: {u}
Classify: {u}
What's the intent? {u}
What intent does this have? {u}
Label this utterance: {u}
Label the intent: {u}
Give the intent label for: {u}
Give me the intent of "{u}"
Tell me the intent of this sentence: {u}
Intent? {u}
intent: {u}
Detect the intent: {u}
Detect the intent of the following message.\\n{u}
Identify the intent: {u}
Identify the user's intent.\\n\\n{u}
Classify the following message by intent:\\n{u}
Classify the following utterance.\\n\\n"{u}"
{u}\\n\\nWhat is the intent?
{u}\\nIntent:
"{u}" - which intent is this?
"{u}" What is the intent of this message?
Utterance: {u}\\nIntent:
Message: {u}\\nIntent:
Text: {u}\\nLabel:
User: {u}\\nWhat does the user want? Answer with the intent label.
A user says: "{u}". What is the intent?
The user said: {u}\\nClassify the intent.
A customer wrote: "{u}". Which intent is it?
Which label fits this message? {u}
Which intent label fits: "{u}"?
Which category of request is this? {u}
What kind of request is this? {u}
What is the user asking for? Answer with a label only: {u}
Assign an intent to: {u}
Assign one label to this message: {u}
Tag this message with its intent: {u}
Tag: {u}
Route this request: {u}
Predict the intent of "{u}"
Name the intent: {u}
Return the intent label only.\\n{u}
Please classify the intent of the following: {u}
Please label the intent of this request: "{u}"
Could you classify this message? {u}
Can you tell me which intent this is? {u}
I need the intent of this utterance: {u}
Determine the intent of the message below.\\n\\n{u}
Intent classification: {u}
Intent classification task. Input: {u}
Read the message and give its intent. Message: {u}
For the request "{u}", what is the intent label?
What would the intent label be for this: {u}
Do intent detection on this text: {u}
Welche Absicht hat diese Nachricht? {u}
Klassifiziere die Absicht: {u}
Quelle est l'intention de ce message ? {u}
Classe l'intention : {u}
¿Cuál es la intención de este mensaje? {u}
Clasifica la intención: {u}
Classifica l'intento: {u}
Qual è l'intento di questo messaggio? {u}
Classifique a intenção: {u}
Qual é a intenção desta mensagem? {u}
Wat is de intentie van dit bericht? {u}
Classificeer de intentie: {u}
Vilken avsikt har det här meddelandet? {u}
Klassificera avsikten: {u}
Jaka jest intencja tej wiadomości? {u}
Sklasyfikuj intencję: {u}
Bu mesajın niyeti nedir? {u}
Niyeti sınıflandır: {u}
""")

augment = intent_variants.noisy  # the same noise for foreign questions


rows, labels = clinc, clinc_labels


def surface(rng, text):
    """CLINC150 is lower case without a closing mark; people are not always so."""
    if rng.random() < 0.3:
        text = sentence_case(text)
    if rng.random() < 0.25 and text[-1:] not in "?.!":
        text += rng.choice("??.!")
    return text


BARE = 0.3  # of the lines stand alone
# Intents of which a line alone may be one of our own jobs: sums, units, and talk.
OWN_JOBS = {
    "calculator",
    "measurement_conversion",
    "greeting",
    "goodbye",
    "thank_you",
    "what_can_i_ask_you",
    "what_is_your_name",
    "are_you_a_bot",
    "who_made_you",
    "who_do_you_work_for",
}


def alone(rng, text, answer, soft):
    """A line that asks for no label, as messages, or None where it may be one of our jobs."""
    likely = {answer} | {label for label, p in soft or [] if p > 0.02}
    return None if likely & OWN_JOBS else [("user", surface(rng, text))]


def wrap(rng, text, split):
    """Chat messages that ask for the intent of `text`: a system prompt or an instruction."""
    if rng.random() < 0.3:
        return [("system", SYSTEM.pick(rng, split)), ("user", text)]
    asked = fill(INSTRUCTION.pick(rng, split).replace("\\n", "\n"), u=text)
    if rng.random() < 0.1:
        return [("system", SYSTEM.pick(rng, split)), ("user", asked)]
    return [("user", asked)]


def example(rng, split="train"):
    """(messages, answer, soft); answer None: not ours."""
    text, answer, soft = draw(rng, split, NAME, rows)
    if answer and rng.random() < choices.SHARE:
        return choices.offer(rng, split, surface(rng, text), answer, soft, labels())
    if rng.random() < BARE:
        messages = alone(rng, text, answer, soft)
        if messages:
            return messages, None, None
    return wrap(rng, surface(rng, text), split), answer, soft

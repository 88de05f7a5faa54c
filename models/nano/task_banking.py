"""Task: the intent of a bank customer's message (Banking77, Casanueva et al. 2020, CC BY 4.0).

The answer is the bare label, one token. A message alone would be taken for one of CLINC150's 150
intents, so here the request always names the bank: in a system prompt or around the message.
Only the training split is read here.
"""

import choices
from corpora import banking, banking_labels
from pools import fill, lines
from soft_lines import draw

NAME = "banking"
TEACHER_PASSES = 4

SYSTEM = lines("""
Classify this bank customer's message.
You label messages to a bank with their banking intent.
You are a banking intent classifier. Answer with the label only.
You work in a bank's customer support and tag each message with its intent.
Classify each message of a bank customer into one of the 77 banking intents.
You route the messages of a bank's app. Reply with the banking intent.
Return the banking intent of the message and nothing else.
Customer support of an online bank: one label per message.
You are the intent detector of a mobile bank. One label.
Answer with the Banking77 label of the message.
The user writes to the support of a card and payments app. Answer with the support category.
Banking support triage: output the category of the customer's message.
You sort the tickets of a bank. Output the ticket's category.
For every message to the bank, output its banking intent.
""")

INSTRUCTION = lines("""
Banking intent: {u}
What is the banking intent of this message? {u}
Classify this bank customer's message: {u}
Classify this bank customer's message.\\n\\n{u}
Classify the bank customer's question: {u}
Which banking intent is this: "{u}"
Give the banking intent of: {u}
Banking intent of "{u}"?
A bank customer wrote: "{u}". Which intent is it?
A bank customer asks: {u}\\nBanking intent:
Bank customer: {u}\\nIntent:
Bank support ticket: {u}\\nCategory:
{u}\\n\\nWhat is the banking intent?
{u}\\nBanking intent:
Tag this message to the bank: {u}
Label this banking support request: {u}
Label the bank customer's message with its intent.\\n{u}
Route this banking support message: {u}
Banking77 label: {u}
Which Banking77 label fits? {u}
Card and banking support. Which category is this? {u}
In which category of bank support does this belong? {u}
What does this bank customer want? Answer with the label. {u}
Detect the banking intent of the following message.\\n{u}
Identify the banking intent: {u}
Determine the banking intent of the message below.\\n\\n{u}
Please classify this message to a bank: "{u}"
Could you tell me the banking intent of this? {u}
Message to the bank: {u}\\nLabel:
Read the customer's message to the bank and give its banking intent. Message: {u}
Predict the banking intent of "{u}"
For the bank customer's message "{u}", what is the intent label?
Online banking support query: {u}\\nWhich intent?
Banking intent detection. Input: {u}
""")


rows, labels = banking, banking_labels
BARE = 0.15  # of the lines stand alone, and are then not ours


def wrap(rng, text, split):
    """Chat messages that ask for the banking intent of `text`."""
    if rng.random() < 0.4:
        return [("system", SYSTEM.pick(rng, split)), ("user", text)]
    asked = fill(INSTRUCTION.pick(rng, split).replace("\\n", "\n"), u=text)
    if rng.random() < 0.1:
        return [("system", SYSTEM.pick(rng, split)), ("user", asked)]
    return [("user", asked)]


def surface(rng, text):
    """Some write without capitals or without the last mark."""
    if rng.random() < 0.2:
        text = text.lower()
    if rng.random() < 0.2:
        text = text.rstrip("?.!") or text
    return text


def example(rng, split="train"):
    """(messages, answer, soft): answer None: not ours, or no label was asked for."""
    text, answer, soft = draw(rng, split, NAME, rows)
    if answer and rng.random() < choices.SHARE:
        return choices.offer(rng, split, surface(rng, text), answer, soft, labels())
    if rng.random() < BARE:
        return [("user", surface(rng, text))], None, None
    return wrap(rng, surface(rng, text), split), answer, soft

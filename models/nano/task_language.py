"""Which of ten languages a text is in. The answer is the language's English name."""

from language_words import FREQUENT, SENTENCES
from names import CITY, COUNTRIES
from pools import ask, fill, injected, lines, polite

LABELS = list(SENTENCES)

ASK = lines("""
What language is this?
What language is this text?
Which language is this?
Which language is this written in?
Identify the language.
Identify the language of this text.
Detect the language.
Detect the language of the following text.
Name the language of the text.
Language?
Language:
In which language is this sentence?
Tell me the language of this sentence.
Determine the language of the text. Answer with its English name.
What language is the following sentence written in?
Classify the language of this text.
Language detection. Answer with the language name only.
Which language do I have here?
What is the language of this message?
Say which language this is.
Label the language.
Give the name of the language only.
Can you tell which language this is?
Do you know what language this is?
The text below is in which language?
Recognise the language.
Text language identification.
Which of these languages is the text in: English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Turkish?
Read the text and name its language.
Return the language of the input.
Language of: {text}
"{text}" is in which language?
What language is "{text}"?
Which language is "{text}" in?
{text}\\nWhat language is that?
What language is "{text}" in?
What language is "{text}" written in?
which language?? {text}
the language of this please: {text}
In welcher Sprache ist dieser Satz? {text}
Welche Sprache ist das: {text}
Quelle est la langue de ce texte ? {text}
C'est quelle langue : {text}
¿En qué idioma está este texto? {text}
¿Qué idioma es este? {text}
Em que língua está isto? {text}
In che lingua è scritto? {text}
In welke taal is dit? {text}
Vilket språk är det här? {text}
W jakim języku to jest? {text}
Bu hangi dilde? {text}
""")
BETWEEN = lines("""
Is this {} or {}?
Is the text {} or {}?
Is it {} or {}?
Is this sentence in {} or in {}?
{} or {}?
Which is it, {} or {}?
Would you say that this is {} or {}?
""")
SYSTEM = lines("""
Detect the language of the user's message. Answer with the language name.
You identify languages. Reply with the English name of the language only.
Name the language of every message.
You are a language detector.
Language identification: one word, the language.
For each text, output its language.
The user sends a text. Which language is it in?
""")


def scramble(rng, language):
    """A few frequent words of the language: for texts that are no whole sentence."""
    return " ".join(rng.sample(FREQUENT[language], rng.choice([3, 4, 5, 6, 8])))


def some_text(rng, language, split):
    kind = rng.random()
    if kind < 0.18:
        return scramble(rng, language)
    parts = [
        fill(
            SENTENCES[language].pick(rng, split),
            n=str(rng.randrange(2, 60)),
            city=CITY.pick(rng),
            name=rng.choice(rng.choice(list(COUNTRIES.values())).first),
        )
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))
    ]
    text = " ".join(parts)
    if kind < 0.42:  # a part of a sentence, or two halves joined
        words = text.split()
        start = rng.randrange(max(1, len(words) - 3))
        text = " ".join(words[start : start + rng.randrange(3, 9)])
    if kind < 0.5:
        text = f"{text} {scramble(rng, language)}"
    if rng.random() < 0.2:
        text = text.lower()
    if rng.random() < 0.1:
        text = "".join(c for c in text if c not in "?.,!¿")
    return text


def example(rng, split="train"):
    """(messages, answer)"""
    language = rng.choice(LABELS)
    text = some_text(rng, language, split)
    if language == "English":
        text = injected(rng, text, split)
    if rng.random() < 0.06:
        names = rng.sample([language, rng.choice([l for l in LABELS if l != language])], 2)
        return ask(rng, BETWEEN.pick(rng, split).format(*names), text), language
    if rng.random() < 0.12:
        return [("system", SYSTEM.pick(rng, split)), ("user", text)], language
    return ask(rng, polite(rng, ASK.pick(rng, split)), text), language

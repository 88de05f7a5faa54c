"""One label out of a list that the prompt gives, of any topic: the answer is a copy of one of them.

Lists of the intents' own labels are in choices.py. Here the lists are of topics, kinds of support
messages, sentiment in other words, languages, domains of intents: names that come and go, so that
the list has to be read. The same is asked as JSON, by keys or by a schema with an enum.
"""

import functools
import json

import task_language
import task_sentiment
from corpora import clinc, clinc_domains
from other_words import (
    ANIMAL,
    BOOK,
    COUNTRY,
    FIRM,
    HEALTH,
    HISTORY,
    HOUSE,
    INSTRUMENT,
    SCIENCE,
    SHOW,
    SPORT,
    SUBJECT,
    TEAM,
    TECH,
)
from pools import ask, chance, fill, injected, lines, sentence_case
from schema_fields import FOOD, PRODUCT
from task_chat import is_talk
from values import amount, person

# Names of a topic, words of it, and sentences of its own ({w}: one of the words).
TOPICS = (
    (
        "sports; sport; athletics; Sports; SPORTS",
        [TEAM, SPORT],
        "{w} won in the last minute; the coach of {w} was fired; the match ended 2-1; she ran the final in record time; {w} fans filled the stadium; he scored twice before half time; the league starts again in August",
    ),
    (
        "technology; tech; Technology; science_and_tech; IT",
        [TECH],
        "the new chip is twice as fast; an update fixes the bug; {w} changes how we write software; the startup released an app; my laptop needs more memory; engineers work on {w}; the phone supports {w}",
    ),
    (
        "food; cooking; Food; food_and_drink; cuisine",
        [FOOD],
        "fry the onions for five minutes; we had {w} for lunch; the recipe for {w} needs two eggs; add a pinch of salt; the bakery sells {w}; this {w} tastes of garlic; the chef serves {w} with bread",
    ),
    (
        "travel; tourism; Travel; trips; holidays",
        [COUNTRY],
        "our flight to {w} was delayed; the hotel in {w} has a pool; we spent ten days in {w}; pack light for {w}; the tour of {w} starts at the station; do not forget your passport; a ferry takes you to the island",
    ),
    (
        "health; medicine; Health; wellness; medical",
        [HEALTH],
        "the doctor talked about {w}; take the pills twice a day; {w} can be treated; she has a fever and a cough; nurses asked for more beds; exercise helps against {w}; a study on {w} was published",
    ),
    (
        "business; finance; Business; economy; money",
        [FIRM],
        "{w} reported a higher profit; shares of {w} fell by four percent; the company cut two hundred jobs; interest rates went up again; {w} buys a rival; investors worry about debt; quarterly sales of {w} rose",
    ),
    (
        "politics; government; Politics; POLITICS; policy",
        [COUNTRY],
        "the parliament of {w} voted on the law; the minister resigned; {w} holds elections in May; the president signed the treaty; senators debated the budget; a new party leads in {w}; protests against the government went on",
    ),
    (
        "science; research; Science; SCIENCE",
        [SCIENCE],
        "researchers explain {w}; the experiment confirmed the theory; a telescope saw a distant star; a paper on {w} won a prize; biologists found a new species; {w} is hard to measure; the lab studies {w}",
    ),
    (
        "music; Music; songs; audio",
        [INSTRUMENT],
        "she plays the {w}; the band records a new album; the concert was sold out; he learned the {w} as a child; the song reached number one; an orchestra with a {w}; the choir sings on Sunday",
    ),
    (
        "entertainment; movies; film; Entertainment; tv",
        [SHOW],
        "the actors of {w} met again; {w} has a new season; the director won an award; we watched {w} last night; the trailer of the sequel is out; critics loved {w}; the series {w} was cancelled",
    ),
    (
        "books; literature; Books; reading",
        [BOOK],
        "i finished {w} last night; the author of {w} was born in a village; the novel has six hundred pages; our club reads {w}; the library bought {w}; her poems were printed in spring; a new translation of {w}",
    ),
    (
        "animals; pets; Animals; wildlife; nature",
        [ANIMAL],
        "the {w} sleeps all day; our {w} was at the vet; a {w} was seen near the river; the zoo has a young {w}; the {w} hunts at night; feed the {w} twice; the nest of the {w} is empty",
    ),
    (
        "history; History; past; HISTORY",
        [HISTORY],
        "the museum shows letters from {w}; {w} changed the continent; the castle was built in 1320; historians argue about {w}; soldiers marched for weeks; the empire fell; a lecture on {w}",
    ),
    (
        "education; school; Education; learning; university",
        [SUBJECT],
        "the exam in {w} was hard; she teaches {w}; students hand in their essays on Friday; he studies {w}; our school has a new library; the course on {w} starts in March; homework in {w} takes hours",
    ),
    (
        "home; household; Home; housing; garden",
        [HOUSE],
        "the {w} needs a repair; we painted the walls; a plumber fixed the {w}; the neighbours bought a new {w}; mow the lawn on Saturday; the roof leaks; clean the {w} first",
    ),
    (
        "shopping; products; retail; Shopping; e-commerce",
        [PRODUCT],
        "the {w} is on sale; i returned the {w}; this shop has a large {w}; two for one on every {w}; the {w} comes in three colors; free delivery for a {w}; a review of the {w}",
    ),
)
KINDS = {  # closed sets: several names of a label, and messages of it
    "support": (
        (
            "billing; payments; Billing; invoices",
            "i was charged twice this month; my invoice shows the wrong amount; the payment of {a} failed; please send me the receipt for {a}; why did the price go up",
        ),
        (
            "technical; tech_support; Technical issue; bug",
            "the app crashes when i open it; i get error {n}; the page does not load; nothing happens when i press save; the screen stays black after the update",
        ),
        (
            "shipping; delivery; Shipping; logistics",
            "my parcel has not arrived; the tracking has not changed for {n} days; the box was left in the rain; can you deliver on saturday; the courier never rang",
        ),
        (
            "account; login; Account access; profile",
            "i cannot log in; how do i change my email address; my account is locked; please delete my profile; the reset link does not work",
        ),
        (
            "returns; refund; Return; refunds",
            "i want to send the shoes back; when do i get my money back; the size does not fit, i return it; how do i get a refund of {a}; here is the label for the return",
        ),
        (
            "sales; pre-sales; Sales question; product_info",
            "do you have this in blue; is there a discount for {n} licences; which plan fits a team of {n}; can i try it for free; do you sell gift cards",
        ),
        (
            "praise; compliment; feedback; Praise",
            "your team was wonderful; thanks {p}, that solved it; best service i ever had; great job, keep it up; i love the new design",
        ),
        (
            "complaint; complaints; Complaint; escalation",
            "this is the third time i ask; nobody answers my mails; i want to speak to a manager; your service is a disgrace; i waited {n} hours on the phone",
        ),
    ),
    "spam": (
        (
            "spam; Spam; junk; unwanted",
            "you have won {a}, click here; cheap pills without prescription; claim your prize now; earn {a} a week from home; your parcel is held, pay a fee at this link; hot singles in your area; last chance for this crypto offer",
        ),
        (
            "ham; not_spam; Not spam; legitimate; ok",
            "see you at lunch tomorrow; the minutes of the meeting are attached; mum says hi; can you send me the slides; your appointment with {p} is on monday; the rent was paid; here are the photos of the trip",
        ),
    ),
    "urgency": (
        (
            "urgent; high; URGENT; critical; P1",
            "the server is down and no customer can pay; water runs into the cellar right now; i need help immediately; the fire alarm rings; call {p} back at once, it cannot wait",
        ),
        (
            "not_urgent; low; normal; not urgent; P3",
            "when you have time, please look at the page; no hurry, but the printer needs paper; just an idea for next year; could you update the list some day; a typo in the footer",
        ),
    ),
    "act": (
        (
            "question; Question; asking; query",
            "where do i find the form; how many people come; when does the shop close; is {p} in the office; which bus do i take; why is it so loud",
        ),
        (
            "request; command; Request; order",
            "send me the report; please close the window; book the small room for us; call {p}; put the boxes in the cellar; write a short summary",
        ),
        (
            "statement; information; Statement; fact",
            "the shop closes at eight; {p} works in the office; it rained all night; we sold {n} tickets; the bus was late; my sister lives in the south",
        ),
    ),
}
FEELINGS = {
    "positive": ["good", "happy", "satisfied", "Positive", "POS", "thumbs_up", "favorable", "like"],
    "negative": [
        "bad",
        "unhappy",
        "dissatisfied",
        "Negative",
        "NEG",
        "thumbs_down",
        "unfavorable",
        "dislike",
    ],
    "neutral": ["mixed", "Neutral", "NEU", "neither", "no_opinion", "indifferent"],
}
PLAIN = lines("""
tell me about {w}
{w}
i read something about {w} yesterday
they talked about {w} for hours
everything you need to know about {w}
my friend is crazy about {w}
a short text on {w}
there was something on {w} in the paper
what do you think of {w}
{w} is all over the news
""")

ASK = lines("""
Classify the text. Labels: {list}.
Classify the text as one of: {list}.
Which of these labels fits: {list}?
Which category does this belong to: {list}?
Choose one label: {list}
Pick the best label from this list: {list}
Pick one of {list}.
Assign one of these categories: {list}
Labels: {list}
Categories: {list}
Possible labels: {list}
Is this {list}?
Answer with exactly one of: {list}.
Sort this into one of the following: {list}
Label this message with one of {list}.
Decide: {list}
Which one is it? {list}
Tag the message. Tags: {list}
Route the message to one of: {list}
Reply with one of these words only: {list}
What kind of text is this? Options: {list}
Categorize the following text. Options: {list}.
Classify into {list}
Ordne den Text ein. Kategorien: {list}
Welche Kategorie passt? {list}
Classe le texte. Catégories : {list}
Clasifica el texto. Etiquetas: {list}
Classifica il testo. Etichette: {list}
Classifique o texto. Rótulos: {list}
Classificeer de tekst. Labels: {list}
Klassificera texten. Etiketter: {list}
Sklasyfikuj tekst. Etykiety: {list}
Metni sınıflandır. Etiketler: {list}
""")
SYSTEM = lines("""
You are a classifier. Labels: {list}.
Classify each message as one of: {list}. Answer with the label only.
You label texts. The labels are {list}.
Answer every message with one of these labels: {list}
Your only output is one of: {list}
Sort the user's messages into {list}.
For each text give its category. Categories: {list}
Possible categories are {list}. Output one.
""")
JSON_ASK = lines("""
Classify the text. Answer as JSON with the key "{key}", one of: {list}.
Return JSON {"{key}": ...} where {key} is one of {list}.
Give the {key} as JSON. Allowed values: {list}.
Fill this schema: {schema}
Classify. JSON schema: {schema}
Answer in JSON that follows this schema: {schema}
""")
SEPARATORS = [", ", ", ", ", ", " | ", "\n- ", "; ", " / ", " or "]
LABELS_MAX = 10
PLAIN_SHARE = 0.15  # as `tandem classify` asks (src/engine/session/classifier.c)


def names_of(text):
    return [x.strip() for x in text.split(";")]


def topic(rng):
    """(text, label, others)"""
    count = rng.randrange(2, LABELS_MAX + 1)
    chosen = rng.sample(TOPICS, min(count, len(TOPICS)))
    _, pools, said = chosen[0]
    word = rng.choice(pools).pick(rng)
    own = rng.random() < 0.7
    text = fill(rng.choice(names_of(said)) if own else PLAIN.pick(rng), w=word)
    if own and rng.random() < 0.3:
        text += ". " + fill(rng.choice(names_of(said)), w=rng.choice(pools).pick(rng))
    return text, pick_names(rng, [t[0] for t in chosen])


def pick_names(rng, lists):
    """One name of each label, all in one letter case or as they stand."""
    labels = [rng.choice(names_of(x)) for x in lists]
    style = rng.random()
    if style < 0.5:
        labels = [label.lower() for label in labels]
    elif style < 0.6:
        labels = [label.upper() for label in labels]
    return labels


def closed(rng):
    rows = rng.choice(list(KINDS.values()) + [KINDS["support"]] * 2)
    count = rng.randrange(2, len(rows) + 1)
    chosen = rng.sample(rows, count)
    text = fill(
        rng.choice(names_of(chosen[0][1])),
        a=amount(rng),
        n=str(rng.randrange(2, 500)),
        p=person(rng),
    )
    return text, pick_names(rng, [row[0] for row in chosen])


def feeling(rng, split):
    kinds = rng.sample(list(FEELINGS), rng.choice([2, 3, 3]))
    if set(kinds) == {"neutral", "negative"} or set(kinds) == {"neutral", "positive"}:
        kinds = ["positive", "negative"] if rng.random() < 0.5 else ["negative", "positive"]
    text, soft = task_sentiment.draw(rng, kinds[0], split)
    if soft and max(soft, key=soft.get) != kinds[0]:
        return feeling(rng, split)
    at = rng.randrange(6)
    return text, [([kind, *FEELINGS[kind]])[at] for kind in kinds]


def language(rng, split):
    chosen = rng.sample(task_language.LABELS, rng.randrange(2, 8))
    return task_language.some_text(rng, chosen[0], split), chosen


@functools.cache
def utterances(split):
    rows = clinc("train" if split == "train" else "val")
    return [(u, l) for u, l in rows if l and not is_talk(u)]


def domain(rng, split):
    """An utterance by the domain of its intent, or by the intent's name as people write it."""
    text, label = rng.choice(utterances(split))
    domains = clinc_domains()
    if rng.random() < 0.5:
        own = domains[label]
        others = [d for d in sorted(set(domains.values())) if d != own]
        listed = [own, *rng.sample(others, rng.randrange(1, len(others)))]
        return text, [
            x.replace("_", rng.choice([" ", "_"])) if rng.random() < 0.3 else x for x in listed
        ]
    others = [l for l in rng.sample(sorted(domains), LABELS_MAX) if l != label]
    listed = [label, *others[: rng.randrange(1, LABELS_MAX)]]
    form = rng.choice(
        [
            lambda x: x.replace("_", " "),
            lambda x: x.replace("_", "-"),
            lambda x: x.replace("_", " ").title(),
            str.upper,
        ]
    )
    return text, [form(x) for x in listed]


def some_list(rng, split):
    """(text, labels): the first label is right."""
    kind = rng.random()
    if kind < 0.34:
        return topic(rng)
    if kind < 0.58:
        return closed(rng)
    if kind < 0.72:
        return feeling(rng, split)
    return language(rng, split) if kind < 0.79 else domain(rng, split)


def example(rng, split="train"):
    """(messages, answer)"""
    text, labels = some_list(rng, split)
    labels = list(dict.fromkeys(labels))
    answer = labels[0]
    if len(labels) < 2:
        return example(rng, split)
    if chance(rng, 0.25):
        text = sentence_case(text)
    text = injected(rng, text, split, 0.03)
    rng.shuffle(labels)
    if chance(rng, PLAIN_SHARE):
        words = f"Classify the text. Labels: {', '.join(labels)}."
        return [("user", f"{words}\n\nText: {text}")], answer
    separator = rng.choice(SEPARATORS)
    given = ("\n- " if separator == "\n- " else "") + separator.join(labels)
    kind = rng.random()
    if kind < 0.14:
        key = rng.choice(["label", "category", "class", "topic", "type", "kind"])
        schema = {"type": "object", "properties": {key: {"type": "string", "enum": labels}}}
        words = fill(
            JSON_ASK.pick(rng, split),
            key=key,
            list=", ".join(labels),
            schema=json.dumps(schema, ensure_ascii=False),
        )
        return ask(rng, words, text), json.dumps({key: answer}, ensure_ascii=False)
    if kind < 0.36:
        return [("system", fill(SYSTEM.pick(rng, split), list=given)), ("user", text)], answer
    words = fill(ASK.pick(rng, split), list=given)
    if kind < 0.62:
        return [("user", f"{words}\n\nText: {text}")], answer
    return ask(rng, words, text), answer

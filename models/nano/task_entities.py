"""Named entities of WNUT17's six types, as a JSON list in the order of appearance:
`[{"type": "person", "text": "Ada"}, ...]`, `[]` where there is none.

Half are WNUT17's training sentences, half templates of our own with invented and common names.
"""

import functools
import json
import re

import values
from corpora import wnut_train
from names import COMPANY_HEAD, FIRST, LAST
from pools import (
    Pool,
    ask,
    chance,
    fill,
    injected,
    lines,
    polite,
    pseudo_word,
    sentence_case,
    words,
)
from schema_fields import TITLE
from task_private import right  # noqa: F401  (the same form of answer)

TYPES = ["person", "location", "corporation", "product", "creative-work", "group"]

PRODUCT = words(
    """Galaxy S9, iPhone 7, PlayStation 4, Model 3, Xperia Z, Kindle, Walkman, Thinkpad, Surface Pro,
Pixel 2, Macbook Air, Xbox, Nexus 5, Corolla, Civic, Golf GTI, Boeing 737, Nutella, Sprite, Photoshop, Windows 10,
Minecraft, Android 7, Ubuntu, GoPro, Roomba, Vespa, Airpods, Tamiflu, Snickers, Excel, Kinect, Game Boy"""
)
WORK_TAIL = words(
    """Live, Returns, The Movie, Tonight, Weekly, Chronicles, Diaries, Stories, Revenge, Reloaded"""
)
GROUP = words(
    """the Hawks, the Tigers, Real Norden, FC Linden, the Red Bears, the Night Owls, Blue Notes,
the Paper Kites, the Silver Foxes, Young Farmers, Green Party, Chess Club 04, River Rangers, the Stone Age,
Electric Plum, the Wild Geese, Team Falcon, North Stars, Drum and Base, the Midnight Choir, Harbor Eagles,
Lake Lions, the Crying Moons, the Workers Union, Kings of Nothing, the Rockets, Delta Squad"""
)
LAND = words(
    """France, Germany, Spain, Japan, Brazil, Texas, California, Ohio, Kenya, India, Canada, Mexico,
Portugal, Scotland, Peru, Norway, Lake Garda, Mount Fuji, Central Park, Times Square, Heathrow, Main Street,
Bondi Beach, the Alps, Manhattan, Brooklyn, Soho, Camden, the Nile, Sahara, Sicily, Crete, Bali"""
)

SENTENCES = lines("""
{person} is in {location} tonight
Just met {person} in {location}!
I saw {person} at the {corporation} store
{corporation} opens a new office in {location}
I love my new {product}
my {product} is broken again, thanks {corporation}
Watching {creative-work} with {person}
{creative-work} was the best film of the year
Have you read {creative-work} by {person}?
{group} won against {group} in {location}
{group} play in {location} on friday
going to see {group} with {person} lol
@user do you know {person}?
{person} and {person} are on {creative-work} tonight
{corporation} says the {product} ships in May
anyone here with a {product}?
The {product} from {corporation} costs too much
I live in {location} and work for {corporation}
{person} left {corporation} to join {corporation}
flying from {location} to {location} tomorrow
RT @user: {person} sings with {group}
can't wait for {creative-work}
The new album of {group} is called {creative-work}
{person} lost the election in {location}
Does {corporation} sell the {product} in {location}?
I am at {location} (near {location})
happy birthday {person}
{person} 's new song is great
so excited for {group} !!
good morning {location}
is {creative-work} on tv tonight?
{person} bought a {product} from {corporation}
The police in {location} is looking for {person}
my sister {person} loves {group}
{corporation} fired {person}
{person} , the singer of {group} , lives in {location}
I use {product} on my {product}
How do I install {product}?
{location} is beautiful
I still miss {person}
Traffic in {location} is terrible because of {group}
{person} wrote {creative-work} in {location}
season 2 of {creative-work} starts today
{corporation} bought {corporation} for 3 billion
{group} fans are everywhere in {location}
""")
NOTHING = lines("""
I am so tired today
what time is it
good morning everyone
can't believe it's already friday
this is the best day ever
I need more coffee
why is it raining again?
going to bed now, good night
who wants pizza tonight
lol that was funny
I have an exam tomorrow
my phone is dead again
thanks for the follow!
we should talk about this later
the train is late again
Just finished my homework
""")

ASK = lines("""
List the named entities as JSON.
Find the named entities in this text. Answer with a JSON list.
Extract the named entities as JSON.
Extract all named entities (person, location, corporation, product, creative-work, group) as JSON.
Named entities as JSON:
Named entity recognition. Return JSON.
NER:
Do named entity recognition on this tweet and answer in JSON.
Which named entities are mentioned? Answer as JSON.
Return the entities of this text as a JSON list of type and text.
Identify the entities (person, location, group, corporation, product, creative-work).
Tag the named entities, output JSON.
Recognise the named entities and give a JSON list.
Recognize named entities. JSON only.
Give me the entities in this post as JSON.
Mark all people, places, firms, products, works and groups: JSON list of type and text.
Get the named entities from the text.
What entities are in this sentence? JSON please.
Text: {text}\\nEntities:
Text: {text}\\nNamed entities (JSON):
Tweet: {text}\\nNamed entities:
Extract entities from: {text}
Find people, locations, corporations, products, creative works and groups in the text; answer as JSON.
Output the named entities with their types as JSON.
Entity extraction: JSON list of {"type", "text"}.
List who and what is named here, as JSON entities.
Run NER on the following sentence.
Pull the named entities out of this text as JSON.
""").widen(
    """
(|Please )(find|list|extract|mark|collect|name|show|tag) (the named entities|all named entities|the entities|the names) (in|of|from) (this text|the text|the post|this tweet|the sentence) (as JSON|as a JSON list|in JSON).
(Which|What) (named entities|entities|names) (are|stand) (here|in this text|in this tweet)? (Answer in JSON|JSON, please|Use JSON|Reply with a JSON list).
(Entities|Named entities|NER)(, JSON:| as a JSON list:| of this in JSON:)
"""
)
SYSTEM = lines("""
Extract named entities from the user's text as a JSON list of type and text.
You do named entity recognition with the types person, location, corporation, product, creative-work, group.
NER service. Output only a JSON list.
For each message return its named entities as JSON.
You tag entities: person, location, group, corporation, product, creative-work. Answer with JSON, [] if none.
Named entity recognition, JSON output.
Return the named entities of the message.
""")
ONE = {
    "person": ["people", "persons", "names of people"],
    "location": ["locations", "places"],
    "corporation": ["corporations", "companies"],
    "product": ["products"],
    "creative-work": ["creative works", "films, books and songs"],
    "group": ["groups", "teams and bands"],
}
ASK_ONE = lines("""
Extract the {what} as JSON entities.
List only the {what} as a JSON list of type and text.
Find the {what} in this text, answer with a JSON list of entities.
Named entities, {what} only, as JSON.
Which {what} are named? JSON entities.
Return the named {what} as JSON.
Entities of one type: {what}. JSON list.
Give me the named {what}, as a JSON list of type and text.
""")


@functools.cache
def sentences():
    """Pool of WNUT17's training sentences as (text, [(type, text)])."""
    out = []
    for row in wnut_train():
        text, found = "", []
        for i, (token, tag) in enumerate(row):
            text += (" " if i else "") + token
            if tag.startswith("B-"):
                found.append([tag[2:], len(text) - len(token), len(text)])
            elif tag.startswith("I-") and found:
                found[-1][2] = len(text)
        out.append((text, [(kind, text[a:b]) for kind, a, b in found]))
    return Pool(out)


def tidy(text, found):
    """The spaces of tokenisation removed where nobody writes them, outside entities too."""

    def shrink(t):
        return re.sub(r" ([.,!?:;)]|'s|n't|'m|'re|'ll|'ve)(?= |$)", r"\1", t).replace("( ", "(")

    return shrink(text), [(kind, shrink(value)) for kind, value in found]


def invented(rng):
    return pseudo_word(rng).capitalize()


def value(rng, kind):
    if kind == "person":
        if chance(rng, 0.4):
            return values.person(rng)
        first, last = FIRST.pick(rng).capitalize(), LAST.pick(rng).capitalize()
        return rng.choice([first, f"{first} {last}", f"{first} {last}", invented(rng)])
    if kind == "location":
        return rng.choice([values.city(rng), LAND.pick(rng), invented(rng)])
    if kind == "corporation":
        return rng.choice([COMPANY_HEAD.pick(rng), values.company(rng), invented(rng)])
    if kind == "product":
        made = f"{invented(rng)} {rng.choice(['X', 'Pro', 'Mini', str(rng.randrange(2, 20))])}"
        return PRODUCT.pick(rng) if chance(rng, 0.6) else made
    if kind == "creative-work":
        return TITLE.pick(rng) if chance(rng, 0.6) else f"{invented(rng)} {WORK_TAIL.pick(rng)}"
    return GROUP.pick(rng) if chance(rng, 0.7) else f"the {invented(rng)}s"


def own(rng, split):
    """(text, entities) of one or two templates."""
    texts, found = [], []
    for _ in range(rng.choice([1, 1, 1, 2])):
        text = ""
        for part in re.split(r"(\{[a-z-]+\})", SENTENCES.pick(rng, split)):
            if part[1:-1] in TYPES:
                made = value(rng, part[1:-1])
                made = (
                    made[4:]
                    if text.endswith(("the ", "The ", "a ")) and made.startswith("the ")
                    else made
                )
                found.append((part[1:-1], made))
                text += made
            else:
                text += part
        texts.append(text)
    text = rng.choice([". ", " ", " ! ", "\n"]).join(texts)
    if chance(rng, 0.12):
        return text.lower(), [(k, v.lower()) for k, v in found]
    return (
        (sentence_case(text), found)
        if not text.lower().startswith(tuple(v.lower() for _, v in found))
        else (text, found)
    )


def some_text(rng, split):
    kind = rng.random()
    if kind < 0.5:
        while True:
            text, found = sentences().pick(rng, split)
            if found or chance(rng, 0.35):
                return tidy(text, found) if chance(rng, 0.5) else (text, found)
    if kind < 0.58:
        return NOTHING.pick(rng, split), []
    return own(rng, split)


def example(rng, split="train"):
    """(messages, answer)"""
    text, found = some_text(rng, split)
    text = injected(rng, text, split, 0.02)

    def show(pairs):
        return json.dumps([{"type": k, "text": v} for k, v in pairs], ensure_ascii=False)

    if chance(rng, 0.14):
        kind = rng.choice([k for k, _ in found] or TYPES)
        asked = fill(ASK_ONE.pick(rng, split), what=rng.choice(ONE[kind]))
        return ask(rng, polite(rng, asked), text), show([(k, v) for k, v in found if k == kind])
    if chance(rng, 0.15):
        return [("system", SYSTEM.pick(rng, split)), ("user", text)], show(found)
    return ask(rng, polite(rng, ASK.pick(rng, split)), text), show(found)

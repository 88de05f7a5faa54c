"""Questions about one given sentence: yes, no, or not stated.

A sentence is made from a frame with slots. A question asks for a slot with the value of the
sentence (yes), with another value (no), or for something that the sentence does not speak of (not
stated)."""

import re

from names import CITY, FIRST, JOB
from pools import Pool, fill, lines, sentence_case, unescape, words
from values import MONTHS, WEEKDAYS

LABELS = ["yes", "no", "not stated"]

COLOR = words("red, blue, green, black, white, yellow, brown, grey")
THING = words(
    """lamp, bicycle, jacket, guitar, camera, desk, table, sofa, carpet, mirror, tent, phone,
laptop, clock, vase, suitcase, bag, chair, painting, piano, helmet, drill, kettle, blanket"""
)
FOOD = words(
    """soup, pizza, salad, pasta, curry, sandwich, cake, omelette, stew, burger, fish, rice,
pancakes, tacos"""
)
VEHICLE = words("train, bus, car, taxi, plane, ferry, tram, bicycle")
PLACE = words("""library, station, museum, hotel, school, hospital, office, market, park, theatre,
restaurant, airport, gym, bank, bakery, church""")
ANIMAL = words("dog, cat, parrot, rabbit, horse, hamster, goat, turtle")
RELATIVE = words("sister, brother, mother, father, uncle, aunt, cousin, neighbour, friend, boss")
LANGUAGE = words(
    "English, German, French, Spanish, Italian, Turkish, Polish, Arabic, Hindi, Korean"
)
SPORT = words("tennis, football, chess, golf, hockey, basketball, volleyball, rugby, judo")

# One frame a block: the sentences, then questions as "slot? question"; a slot in [brackets] of the
# question is the one that is asked for. "-" marks questions that no sentence of the frame answers.
FRAMES = """
{name} bought a {color} {thing} in {city} on {weekday}.
On {weekday} {name} bought a {color} {thing} in {city}.
In {city}, {name} bought a {color} {thing} last {weekday}.
? Did {name} buy a [thing]?
? Was the {thing} [color]?
? Did {name} buy the {thing} in [city]?
? Was it on a [weekday]?
? Did [name] buy the {thing}?
? Is it true that the {thing} was bought in [city]?
- Did {name} pay in cash?
- Was the {thing} a present?
- Was the {thing} expensive?
- Does {name} live in {city}?
- Is {name} married?

{name} works as a {job} at the {place} in {city}.
{name} is a {job} and works at the {place} in {city}.
The {place} in {city} employs {name} as a {job}.
? Is {name} a [job]?
? Does {name} work at the [place]?
? Does {name} work in [city]?
? Is [name] a {job}?
- Does {name} like the job?
- Is {name} older than 40?
- Does {name} have children?
- Does {name} earn well?
- Does {name} drive to work?

The meeting with {name} is on {weekday} at {hour} in the {place}.
We meet {name} on {weekday} at {hour} in the {place}.
The appointment with {name} was set for {weekday}, {hour}, at the {place}.
? Is the meeting on [weekday]?
? Is the meeting at [hour]?
? Is the meeting in the [place]?
? Is the meeting with [name]?
? Do they meet at [hour]?
- Will lunch be served at the meeting?
- Is the meeting longer than an hour?
- Will the manager come to the meeting?
- Is the meeting about money?

{name} travelled from {city} to {city2} by {vehicle} in {month}.
In {month}, {name} went from {city} to {city2} by {vehicle}.
{name} took the {vehicle} from {city} to {city2} in {month}.
? Did {name} travel to [city2]?
? Did {name} travel by [vehicle]?
? Did {name} travel in [month]?
? Did {name} start in [city]?
? Did [name] make the trip?
- Did the trip take more than a day?
- Did {name} travel alone?
- Was the ticket cheap?
- Did {name} enjoy the trip?

{name} has a {color} {animal} that is {n} years old.
The {animal} of {name} is {color} and {n} years old.
{name} owns a {color} {animal}. It is {n} years old.
? Does {name} have a [animal]?
? Is the {animal} [color]?
? Is the {animal} [n] years old?
? Does [name] own the {animal}?
- Is the {animal} ill?
- Does the {animal} sleep outside?
- Does {name} have children?
- Is the {animal} bigger than usual?

{name} cooked {food} for {n} guests on {weekday}.
On {weekday} {name} made {food} for {n} guests.
{n} guests came on {weekday} and {name} cooked {food}.
? Did {name} cook [food]?
? Were there [n] guests?
? Was it on [weekday]?
? Did [name] cook?
- Did the guests like the {food}?
- Was the {food} spicy?
- Did anyone bring wine?
- Did the guests stay until midnight?

The {place} in {city} opens at {hour} and is closed on {weekday}.
In {city} the {place} is closed on {weekday} and otherwise opens at {hour}.
? Does the {place} open at [hour]?
? Is the {place} closed on [weekday]?
? Is the {place} in [city]?
- Is the {place} free of charge?
- Is there a car park at the {place}?
- Was the {place} built recently?
- Can one pay by card there?

{name} speaks {language} and learned it from a {relative} in {city}.
In {city} a {relative} taught {name} to speak {language}.
{name} learned {language} from a {relative} who lives in {city}.
? Does {name} speak [language]?
? Did {name} learn it from a [relative]?
? Does [name] speak {language}?
? Is [city] mentioned as the place?
- Does {name} speak it without mistakes?
- Can {name} write poems?
- Is the {relative} a teacher?
- Does {name} live abroad?

{name} plays {sport} with a {relative} every {weekday} at {hour}.
Every {weekday} at {hour} {name} plays {sport} with a {relative}.
? Does {name} play [sport]?
? Do they play on [weekday]?
? Do they start at [hour]?
? Does {name} play with a [relative]?
? Does [name] play {sport}?
- Does {name} usually win?
- Do they play indoors?
- Is {name} in a club?
- Has {name} played for many years?

The parcel for {name} was sent on {month} {n} and contains a {thing}.
A parcel with a {thing} was sent to {name} on {month} {n}.
? Is the parcel for [name]?
? Was it sent in [month]?
? Does it contain a [thing]?
? Was it sent on the [n] of {month}?
- Was the parcel damaged?
- Has the parcel arrived?
- Is the parcel heavier than five kilos?
- Was the parcel insured?

{name} lost a {color} {thing} at the {place} and found it again on {weekday}.
The {color} {thing} that {name} lost at the {place} was found on {weekday}.
? Did {name} lose a [thing]?
? Was the {thing} [color]?
? Was it lost at the [place]?
? Was it found on [weekday]?
- Was there a reward for the {thing}?
- Was the {thing} broken?
- Was the {thing} new?
- Did {name} call the police?

The {place} needs {n} new {job}s by {month}.
By {month} the {place} wants to hire {n} {job}s.
{n} {job}s will be hired by the {place} before the end of {month}.
? Does the {place} need [job]s?
? Are [n] {job}s needed?
? Is the time limit in [month]?
? Is it the [place] that hires?
- Is the pay good?
- Is the {place} in the city centre?
- Do applicants need a driving licence?
- Is the work at night?

{name} lives in {city} and has a {animal}.
{name} and a {animal} live in {city}.
? Does {name} live in [city]?
? Does {name} have a [animal]?
? Does [name] live in {city}?
- Does {name} own a house?
- Is {name} tall?
- Does {name} like {city}?

The {vehicle} to {city} leaves at {hour} and takes {n} hours.
At {hour} the {vehicle} leaves for {city}, and the trip takes {n} hours.
? Does the {vehicle} leave at [hour]?
? Does it take [n] hours?
? Does the {vehicle} go to [city]?
? Will the {vehicle} leave at [hour]?
- Is the {vehicle} full?
- Is the ticket expensive?
- Is the {vehicle} ever late?

The {thing} costs {price} and is available in {color}.
This {thing} comes in {color} and its price is {price}.
? Does the {thing} cost [price]?
? Is the {thing} available in [color]?
? Is the price [price]?
- Is the {thing} made in Europe?
- Does the {thing} have a guarantee?
- Is the {thing} heavy?

The party was moved from {weekday} to {weekday2}.
The party is no longer on {weekday} but on {weekday2}.
Instead of {weekday} the party is now on {weekday2}.
? Is the party on [weekday2]?
? Is the party now on [weekday2]?
? Will the party be on [weekday2]?
- Will there be music at the party?
- Is the party in the garden?
- Are children invited?

The {food} at the {place} was cold and cost {price}.
At the {place} they ate a cold {food} for {price}.
? Was it a [food]?
? Did the {food} cost [price]?
? Did they eat at the [place]?
- Was the waiter friendly?
- Did they leave a tip?
- Did they have dessert?

{name} drinks tea every morning and reads for {n} minutes.
Every morning {name} reads for {n} minutes and drinks tea.
? Does {name} read for [n] minutes?
? Does [name] drink tea?
? Is it [n] minutes that {name} reads?
- Does {name} take sugar?
- Does {name} go jogging?
- Does {name} own many books?

{name} moved to {city} in {month} to become a {job}.
In {month} {name} left for {city} to work there as a {job}.
? Did {name} move to [city]?
? Did {name} move in [month]?
? Will {name} be a [job]?
? Did [name] move to {city}?
- Does {name} miss home?
- Did {name} find a flat?
- Is {name} a good {job}?

My {relative} sold the {color} {vehicle} {n} days ago.
The {color} {vehicle} was sold by my {relative} {n} days ago.
? Did my {relative} sell a [vehicle]?
? Was the {vehicle} [color]?
? Was it sold [n] days ago?
? Was it my [relative] who sold the {vehicle}?
- Was it sold for much money?
- Was the {vehicle} old?
- Did the buyer pay in cash?
"""

ASK = lines("""
Text: {text}\\nQuestion: {question}
Text: {text}\\nQuestion: {question}\\nAnswer yes, no or not stated.
{text}\\n\\n{question} Answer yes, no or not stated.
{text}\\n{question} (yes / no / not stated)
Sentence: {text}\\n{question} Answer with yes, no or not stated.
Answer with yes, no, or not stated, using only the sentence.\\n{text}\\n{question}
Given the sentence "{text}", answer yes, no or not stated: {question}
According to the sentence, {low}\\n{text}\\nReply yes, no or not stated.
Read the sentence and answer yes, no or not stated.\\nSentence: {text}\\nQuestion: {question}
Here is a sentence: {text} {question} Say yes, no or not stated.
"{text}" {question} Answer only yes, no or not stated.
Use the text to answer the question with yes, no or not stated.\\n\\nText: {text}\\n\\nQuestion: {question}
Based on this text, {low} Yes, no or not stated?\\n{text}
Question: {question}\\nText: {text}\\nAnswer (yes, no, not stated):
{question}\\n\\nText: {text}\\n\\nAnswer yes, no or not stated.
Does the text answer this? {question} Reply yes, no or not stated.\\n\\n{text}
Context: {text}\\nQ: {question}\\nA (yes/no/not stated):
Is the answer yes, no or not stated? {question}\\n{text}
Passage: {text}\\nAnswer the question with "yes", "no" or "not stated": {question}
Please answer yes, no or not stated. {text} {question}
Statement: {text}\\nFrom the statement alone: {question} (yes, no, not stated)
""").widen(
    """
(Text|Sentence|Statement|Given|Passage)(: |:\\n){text}\\n(\\n|)(Question: |Q: |){question}(\\n| )(Answer|Reply|Say|Choose) (yes, no or not stated|yes, no, or not stated|"yes", "no" or "not stated")(.|)
(Question|Q): {question}\\n(Sentence|Statement|Passage): {text}\\n(Answer|A|yes, no or not stated)(:|?)
(Read|Take|Look at) this(: |:\\n){text}\\n{question} (yes, no or not stated|Answer yes, no or not stated)(.|?)
{question} (yes, no or not stated?|Answer yes, no or not stated.|Yes, no or not stated:) {text}
(From|By) (the text|this sentence), {low} (yes, no or not stated?|Answer yes, no or not stated.)\\n{text}
"""
)
# The same without the three words: a text and a question about it say enough.
PLAIN = lines("""
{text} {question}
{text}\\n{question}
{text}\\n\\n{question}
"{text}" {question}
Text: {text} {question}
Text: {text}\\n{question}
{question}\\n{text}
{question} Text: {text}
Read: {text} Question: {low}
Based on this text: {text} {question}
According to this text, {low} {text}
Given this sentence: {text} {question}
{text} Now: {low}
{text} So, {low}
I read this: {text} {question}
Here it says: {text} {question}
Question about this text: {low} {text}
{text} My question: {low}
""")
CLAIM = lines("""
Text: {text}\\nClaim: {claim}\\nIs the claim stated? Answer yes, no or not stated.
Sentence: {text}\\nStatement: {claim}\\nDoes the sentence say so? yes, no or not stated
{text}\\n\\nIs it true that {lowclaim}? Answer yes, no or not stated.
Given: {text}\\nIs it right that {lowclaim}? (yes / no / not stated)
According to the text, is it true that {lowclaim}? Text: {text} Answer yes, no or not stated.
Check the claim against the text. Answer yes (stated), no (contradicted) or not stated.\\nText: {text}\\nClaim: {claim}
Text: {text}\\nClaim: {claim}\\nyes, no or not stated?
Premise: {text}\\nHypothesis: {claim}\\nAnswer yes, no or not stated.
""").widen(
    """
(Text|Sentence|Premise|Given)(: |:\\n){text}\\n(Claim|Statement|Hypothesis): {claim}\\n(yes, no or not stated|Answer yes, no or not stated|Is it so? yes, no or not stated)(.|?)
{text}\\n(\\n|)(Does this mean that|Does it follow that|Does it say that) {lowclaim}? (Answer yes, no or not stated.|yes, no or not stated?)
(Is it so that|Is it stated that) {lowclaim}? {text} (Yes, no or not stated|Answer yes, no or not stated)(.|)
(Claim|Statement): {claim}\\n(Text|Sentence|Source): {text}\\n(yes, no or not stated|Answer yes, no or not stated)(.|?)
"""
)
SYSTEM = lines("""
Answer the question about the text with yes, no or not stated.
You answer questions about a sentence. Reply only with yes, no or not stated.
Use only the given sentence. Answer yes, no, or not stated.
Yes, no or not stated: answer from the text alone.
You check facts against a given text. Output yes, no or not stated.
Reading comprehension. Allowed answers: yes, no, not stated.
Answer yes if the text says so, no if it says otherwise, not stated if it does not say.
""")


def parse(block):
    rows = block.strip().splitlines()

    def pick(mark):
        return [r[2:] for r in rows if r.startswith(mark)]

    return ([r for r in rows if r[:2] not in ("? ", "- ")], pick("? "), pick("- "))


PARSED = [parse(block) for block in FRAMES.strip().split("\n\n")]
FILL = {
    "name": FIRST,
    "color": COLOR,
    "thing": THING,
    "city": CITY,
    "city2": CITY,
    "job": JOB,
    "weekday": Pool(WEEKDAYS),
    "weekday2": Pool(WEEKDAYS),
    "month": Pool(MONTHS),
    "place": PLACE,
    "vehicle": VEHICLE,
    "food": FOOD,
    "animal": ANIMAL,
    "relative": RELATIVE,
    "language": LANGUAGE,
    "sport": SPORT,
}


def value(rng, slot):
    if slot == "hour":
        return f"{rng.randrange(1, 13)} {rng.choice(['am', 'pm'])}"
    if slot == "n":
        return str(rng.randrange(2, 15))
    if slot == "price":
        amount = rng.choice([rng.randrange(2, 100), 10 * rng.randrange(2, 90)])
        return rng.choice(["{} euros", "${}", "{} dollars", "{} pounds"]).format(amount)
    text = rng.choice(FILL[slot].parts["train"])
    return text.capitalize() if slot == "name" else text


def articles(text):
    """a apple -> an apple, after the slots are filled."""
    for vowel in "aeiou":
        text = text.replace(f" a {vowel}", f" an {vowel}")
    return text


def claim_of(question, answer):
    """The statement of a question that begins with Did, Does, Is, Was: only for "name" questions
    whose order is subject first; None where it is not simple."""
    words_ = question.rstrip("?").split(" ")
    if words_[0] == "Is" and words_[1][:1].isupper() and words_[2] in ("a", "an"):
        return f"{words_[1]} is {' '.join(words_[2:])}"
    if words_[0] in ("Is", "Was") and words_[1] == "the" and len(words_) == 4:
        return f"the {words_[2]} {words_[0].lower()} {words_[3]}"
    if words_[0] == "Does" and words_[1][:1].isupper():
        verb = {
            "have": "has",
            "work": "works",
            "speak": "speaks",
            "play": "plays",
            "own": "owns",
            "live": "lives",
            "like": "likes",
            "earn": "earns",
            "drive": "drives",
        }.get(words_[2])
        return f"{words_[1]} {verb} {' '.join(words_[3:])}" if verb else None
    return None


def case(rng, wanted):
    """(sentence, question, answer)"""
    sentences, inside, outside = rng.choice(PARSED)
    sentence = rng.choice(sentences)
    slots = {s: value(rng, s) for s in sorted(set(re.findall(r"\{(\w+)\}", " ".join(sentences))))}
    for second in ("city2", "weekday2"):
        while second in slots and slots[second] == slots[second[:-1]]:
            slots[second] = value(rng, second)
    text = fill(sentence, **slots)
    if wanted == "not stated":
        return articles(text), articles(fill(rng.choice(outside), **slots)), wanted
    question = rng.choice(inside)
    slot = question[question.index("[") + 1 : question.index("]")]
    other = value(rng, slot)
    while other == slots[slot] or (
        slot.startswith("city") and other in (slots["city"], slots.get("city2"))
    ):
        other = value(rng, slot)
    shown = slots[slot] if wanted == "yes" else other
    # The asked-for slot may also stand elsewhere in the question: only the brackets change.
    question = fill(question.replace(f"[{slot}]", shown), **slots)
    return articles(text), articles(question), wanted


def example(rng, split="train"):
    """(messages, answer)"""
    text, question, answer = case(rng, rng.choice(LABELS))
    low = question[:1].lower() + question[1:]
    claim = claim_of(question, answer)
    if claim and rng.random() < 0.5:
        asked = fill(
            unescape(CLAIM.pick(rng, split)),
            text=text,
            claim=sentence_case(claim) + ".",
            lowclaim=claim,
        )
    elif rng.random() < 0.15:
        return [
            ("system", SYSTEM.pick(rng, split)),
            (
                "user",
                rng.choice(
                    [
                        f"{text} {question}",
                        f"{text}\n{question}",
                        f"Text: {text}\nQuestion: {question}",
                    ]
                ),
            ),
        ], answer
    else:
        how = PLAIN if rng.random() < 0.4 else ASK
        asked = fill(unescape(how.pick(rng, split)), text=text, question=question, low=low)
    return [("user", asked)], answer

"""Is a text positive, neutral or negative?

Three sources: WNUT17's training tweets with labels of our own and many changes
(sentiment_tweets.py); neutral tweets with words of VADER's lexicon in them (the same,
sentiment_lexicon.py); and sentences written or generated here: opinions, their negation, contrast
("good but ..."), irony, news-like lines. TweetEval is only measured, never read.
"""

import re

import sentiment_posts
import sentiment_tweets
from corpora import clinc_inside, gsm8k_train
from names import CITY
from pools import ask, fill, injected, lines, polite, sentence_case
from sentiment_words import (
    CLOSER,
    EMOJI_NEG,
    EMOJI_POS,
    HASHTAG_NEG,
    HASHTAG_NEUTRAL,
    HASHTAG_POS,
    INTENSE,
    LUCK,
    NEGATION,
    NEGATIVE_ACT,
    NEGATIVE_ADJ,
    NEGATIVE_END,
    NEGATIVE_LINE,
    NEGATIVE_NOUN,
    NEGATIVE_VERB,
    NEUTRAL,
    NEUTRAL_LINE,
    OPENER,
    OTHER,
    POSITIVE_ACT,
    POSITIVE_ADJ,
    POSITIVE_END,
    POSITIVE_LINE,
    POSITIVE_NOUN,
    POSITIVE_VERB,
    SARCASM_END,
    TOPIC,
    TROUBLE,
)
from values import MONTHS, WEEKDAYS

LABELS = sentiment_tweets.LABELS
TWEETS, SCATTERED = 0.40, 0.30  # shares of the training texts; the rest is written or generated
LABEL_SHARES = [
    0.29,
    0.34,
    0.37,
]  # of LABELS; there are fewer tweets with blame (478) than with praise (693)
POSTS = 0.5  # share of whole posts in what is written

ASK = lines("""
Classify the sentiment.
Classify the sentiment of this text.
Classify the sentiment of this tweet as positive, negative or neutral.
Classify the sentiment as positive, neutral or negative.
What is the sentiment of this text?
What is the sentiment of this tweet?
Sentiment?
Sentiment:
Is this positive, negative or neutral?
Is this tweet positive, neutral or negative?
Is the following text positive, negative, or neutral?
Determine the sentiment of the text.
Determine whether the text is positive, negative or neutral. Answer with one word.
Sentiment analysis: positive, negative or neutral?
Sentiment analysis.
Do a sentiment analysis of this message.
Label the sentiment of this message.
Label this tweet: positive, negative, neutral.
How does the writer feel, positive, negative or neutral?
What feeling does this text express: positive, negative or neutral?
Rate the sentiment of this review.
Rate the tone as positive, neutral or negative.
Tell me if this is positive, negative or neutral.
Does this sound positive, negative or neutral?
Identify the sentiment.
Give the sentiment label.
Give the sentiment of the comment below.
Which sentiment has this sentence?
Judge the mood of this post (positive/neutral/negative).
Analyse the sentiment of the post.
Analyze the sentiment of this sentence.
Positive, negative or neutral?
Decide if the tweet is positive, negative, or neutral.
Return one of positive, neutral, negative for this text.
Read the text and say whether its sentiment is positive, neutral or negative.
Is the author happy (positive), unhappy (negative) or neither (neutral)?
Review: {text}\\nSentiment:
Tweet: {text}\\nSentiment:
Tweet: {text}\\nLabel (positive/negative/neutral):
The sentiment of "{text}" is
Sentiment of: {text}
What's the sentiment here? {text}
A customer wrote: "{text}" Is that positive, neutral or negative?
Text: {text}\\nIs the sentiment positive, neutral or negative?
""")
SYSTEM = lines("""
Classify the sentiment of the user's message as positive, neutral or negative.
You are a sentiment classifier. Answer with positive, neutral or negative.
Sentiment analysis. Reply with one word: positive, negative or neutral.
For each message, output its sentiment.
You label tweets as positive, neutral or negative.
Answer with the sentiment of the text only.
You judge the tone of customer reviews: positive, neutral or negative.
Output the sentiment label.
""")

FRAME_ADJ = lines("""
{topic} is {so} {adj}
{topic} was {so} {adj}
{topic} is {adj}
{topic} was {adj}
{topic} looks {adj}
{topic} sounds {adj}
that was {so} {adj}
this is {so} {adj}
{so} {adj}
{adj}
what a {adj} {noun}
such a {adj} {noun}
I think {topic} is {adj}
I feel {adj} about {topic}
I am {so} {adj} today
everything about {topic} is {adj}
{topic} in {city} was {adj}
{topic} has been {adj} since {day}
{topic} turned out to be {adj}
{topic} makes me feel {adj}
{other} is {so} {adj}
{other} and {topic} are {adj}
{topic} tonight is going to be {adj}
having a {adj} time at {topic}
just watched {topic} and it is {adj}
I was at {topic} on {day}, {adj}
my day was {adj} because of {topic}
you know what is {adj}? {topic}
{topic} = {adj}
nothing is as {adj} as {topic}
{topic} gets more {adj} every day
they made {topic} {adj}
""")
FRAME_VERB = lines("""
I {verb} {topic}
I {verb} {topic}
i {verb} {other}
I {verb} {topic} in {city}
I {verb} {other} and {topic}
my friends and I {verb} {topic}
can I just say I {verb} {topic}
Tomorrow is {topic} and I {verb} it
I have to say I {verb} {topic}
it is {day} and I {verb} {topic}
everyone knows I {verb} {topic}
after {topic} I {verb} {other}
why do I {verb} {topic} this much
ok I {verb} {topic} now
I {verb} how {topic} looks
I {verb} the way they did {topic}
""")
FRAME_NOUN = lines("""
so much {good} in {city}
all I see is {good}
{topic} is nothing but {good}
we all need to talk about the {good} at {topic}
{topic} means {good}
the {good} of {other} is unreal
full of {good}
{topic}: {good} and more {good}
there is too much {good} in {topic}
{other} stands for {good}
{good} wherever I look
I see {good} and {good}
just {good}
{other} is all about {good}
""")
NOUN = [
    "day",
    "night",
    "game",
    "show",
    "movie",
    "song",
    "place",
    "service",
    "meal",
    "week",
    "team",
    "idea",
    "choice",
    "experience",
    "interview",
    "speech",
    "product",
    "person",
    "morning",
    "weekend",
    "concert",
]
NOT_GOOD = [
    "not {adj}",
    "not {adj} at all",
    "isn't {adj}",
    "never {adj}",
    "far from {adj}",
    "anything but {adj}",
    "not as {adj} as they said",
    "no longer {adj}",
    "hardly {adj}",
    "not even {adj}",
]
NOT_BAD = [
    "not {adj} at all",
    "not as {adj} as I feared",
    "never {adj}",
    "not {adj} anymore",
    "anything but {adj}",
]

POSITIVE_WORDS = """love loved loves loving lovely amazing awesome great good best better beautiful happy
happiness excited exciting fun funny enjoy enjoyed enjoying thanks thank thankful grateful blessed win won
winning winner congrats congratulations perfect nice cool cute sweet wonderful fantastic brilliant proud
hahaha woohoo wow yes yeah ready awesomeness fab wish luck peace haha yay glad smile smiling hope laugh gorgeous incredible super favorite favourite welcome celebrate epic
hilarious impressed inspired cheers success successful bless birthday stunning superb delicious xoxo
""".split()
NEGATIVE_WORDS = """hate hated hates hating terrible awful horrible bad worse worst sad sadly angry mad
annoyed annoying stupid dumb idiot idiots ugly sick tired boring bored fail failed fails failure lost lose
loser losing die died dead death dies kill killed killing cry crying cried hurt hurts pain painful broken broke
hell annoy cancer crime crisis blame blames blamed jail prison murder murdered arrested bomb violence violent victims
threat ruin ruins nightmare weird nasty gross lame whack headache missing missed regret insane nasty rude bitch ass
scared afraid fear worried disappointed disappointing disgusting pathetic ridiculous shame sucks suck crap
damn hell shit fuck fucking wtf ugh smh problem problems wrong poor unfortunately miss stressed ruined
terrorist attack attacks war racist lie lies liar corrupt scam fake disaster trash garbage useless
""".split()


def polarity(text):
    """(positive, negative) counts of plain opinion words; a negation before one turns it over."""
    tokens = re.findall(r"[a-z']+|[:;]-?[()D]|<3", text.lower().replace("’", "'"))
    up = down = 0
    for i, token in enumerate(tokens):
        turned = any(t in NEGATION for t in tokens[max(0, i - 3) : i])
        good = token in _POSITIVE or token in (":)", ":-)", ":d", ";)", "<3")
        bad = token in _NEGATIVE or token in (":(", ":-(")
        up += (good and not turned) or (bad and turned)
        down += (bad and not turned) or (good and turned)
    return up, down


_POSITIVE, _NEGATIVE = set(POSITIVE_WORDS), set(NEGATIVE_WORDS)


def slots(rng, split):
    topic, other = TOPIC.pick(rng), OTHER.pick(rng)
    if split == "train" and rng.random() < 0.5:  # the names of real tweets
        other = sentiment_tweets.name(rng, "person", "person", "group", "corporation", "location")
        if rng.random() < 0.5:
            topic = sentiment_tweets.name(rng, "product", "creative-work", "group", "person")
    return {
        "topic": topic,
        "other": other,
        "city": CITY.pick(rng),
        "day": rng.choice(WEEKDAYS),
        "month": rng.choice(MONTHS),
        "n": str(rng.randrange(2, 30)),
        "hour": rng.choice(["8pm", "7:30", "9 am", "noon", "midnight", "6 pm"]),
        "so": rng.choice(INTENSE),
        "noun": rng.choice(NOUN),
    }


def opinion(rng, label, split):
    """One clause with an opinion."""
    good = label == "positive"
    kind = rng.random()
    s = slots(rng, split)
    if kind < 0.36:
        adj = (POSITIVE_ADJ if good else NEGATIVE_ADJ).pick(rng)
        if rng.random() < 0.14:  # a negated word of the other side
            form, other = (NOT_BAD, NEGATIVE_ADJ) if good else (NOT_GOOD, POSITIVE_ADJ)
            text = rng.choice(
                ["{topic} is ", "{topic} was ", "the {noun} is ", "{other} is "]
            ) + fill(rng.choice(form), adj=other.pick(rng))
        else:
            text = fill(FRAME_ADJ.pick(rng, split), adj=adj)
    elif kind < 0.52:
        text = fill(
            FRAME_VERB.pick(rng, split), verb=(POSITIVE_VERB if good else NEGATIVE_VERB).pick(rng)
        )
    elif kind < 0.60:
        subject = rng.choice([s["topic"], s["other"], "everyone", "@user", "he", "she", "this"])
        text = (
            f"{subject} {(POSITIVE_ACT if good else NEGATIVE_ACT).pick(rng)}"
            f" {rng.choice([s['topic'], s['other']])}"
        )
    elif kind < 0.66:
        text = fill(
            FRAME_NOUN.pick(rng, split), good=(POSITIVE_NOUN if good else NEGATIVE_NOUN).pick(rng)
        )
    elif kind < 0.82:
        text = (POSITIVE_LINE if good else NEGATIVE_LINE).pick(rng, split)
    elif kind < 0.93:
        text = (POSITIVE_END if good else NEGATIVE_END).pick(rng)
    else:
        text = (LUCK if good else TROUBLE).pick(rng)
    return fill(text, **s)


def plain(rng, split):
    """A clause without opinion."""
    kind, s = rng.random(), slots(rng, split)
    if kind < 0.4:
        return f"{rng.choice([s['topic'], s['other']])} {fill(NEUTRAL.pick(rng, split), **s)}"
    if kind < 0.75:
        return fill(NEUTRAL_LINE.pick(rng, split), **s)
    if kind < 0.85:
        part = rng.choice(gsm8k_train()).split(". ")[0].rstrip(".")
        return part if sum(polarity(part)) == 0 else fill(NEUTRAL_LINE.pick(rng, split), **s)
    if kind < 0.93:
        part = rng.choice(clinc_inside())
        return part if sum(polarity(part)) == 0 else fill(NEUTRAL_LINE.pick(rng, split), **s)
    return neutral_piece(rng, split)


def neutral_piece(rng, split):
    """A neutral tweet or a piece of one."""
    return sentiment_tweets.joined(sentiment_tweets.neutral_words(rng, split))


def decorate(rng, text, label):
    """The surface of posts: openings, ends, hashtags, emoji, letter case."""
    if rng.random() < 0.5:
        text = rng.choice(OPENER) + text
    if rng.random() < 0.45:
        end = rng.choice(CLOSER)
        text += end.replace("!", ".") if label == "neutral" and rng.random() < 0.8 else end
    if rng.random() < 0.2:
        text += " " + rng.choice(
            {"positive": EMOJI_POS, "negative": EMOJI_NEG, "neutral": HASHTAG_NEUTRAL}[label]
        )
    if rng.random() < 0.2:
        tag = {"positive": HASHTAG_POS, "negative": HASHTAG_NEG, "neutral": HASHTAG_NEUTRAL}[label]
        text += " " + rng.choice(HASHTAG_NEUTRAL if rng.random() < 0.5 else tag)
    case = rng.random()
    if case < 0.35:
        return sentence_case(text)
    if case < 0.4:
        return text.upper()
    return text.lower() if case < 0.55 else text


def mixed(rng, label, split):
    """Two clauses of which the second decides."""
    other = {"positive": "negative", "negative": "positive"}[label]
    first, second = opinion(rng, other, split), opinion(rng, label, split)
    return rng.choice(
        [
            f"{first} but {second}",
            f"{first}, but {second}",
            f"{first} however {second}",
            f"although {first}, {second}",
            f"even if {first}, {second}",
            f"{first}... but {second}",
        ]
    )


def post(rng, label, split):
    """A whole post, sometimes with a second clause."""
    text = sentiment_posts.expand(rng, sentiment_posts.BY_LABEL[label].pick(rng, split))
    text = fill(text, **slots(rng, split)).strip()
    if rng.random() < 0.15:
        more = neutral_piece(rng, split) if rng.random() < 0.5 else plain(rng, split)
        text = rng.choice([f"{text} {more}", f"{more}. {text}"])
    return text


def posted(rng, text):
    """What stands around posts whatever they say."""
    if rng.random() < 0.25:
        text = rng.choice(["@user ", "@user @user ", "RT @user: ", "", '"']) + text
    if rng.random() < 0.2:
        text += rng.choice([" http", " @user", " " + rng.choice(HASHTAG_NEUTRAL), "...", "."])
    case = rng.random()
    if case < 0.15:
        return text.lower()
    return text.upper() if case < 0.17 else text


def draw(rng, label, split="train"):
    """(text, {label: probability}) of a text that was meant to have this sentiment."""
    kind = rng.random()
    if kind < TWEETS:
        text, soft = sentiment_tweets.draw(rng, label, split)
    elif kind < TWEETS + SCATTERED and split == "train":
        text, soft = sentiment_tweets.scattered(rng, label)
    else:
        return written(rng, label, split), None
    if soft and label != "neutral" and rng.random() < 0.1:
        text = f"{text} {opinion(rng, label, split)}"
    return posted(rng, text), soft


def written(rng, label, split="train"):
    """A text of our own with this sentiment."""
    kind = 0.16 + 0.84 * rng.random()
    if rng.random() < POSTS:
        return posted(rng, post(rng, label, split))
    if label == "neutral":
        text = plain(rng, split)
        if rng.random() < 0.35:
            text += rng.choice([". ", " and ", ", ", " - "]) + plain(rng, split)
        return decorate(rng, text, label)
    if kind < 0.26:
        return decorate(rng, mixed(rng, label, split), label)
    if kind < 0.32 and label == "negative":  # irony: praise for trouble
        text = rng.choice(
            [
                "Great, ",
                "Awesome, ",
                "Oh perfect, ",
                "Love it when ",
                "How nice, ",
                "Thanks @user, ",
                "Well done @user, ",
                "So happy that ",
            ]
        ) + TROUBLE.pick(rng)
        return f"{text} {rng.choice(SARCASM_END)}"
    text = opinion(rng, label, split)
    shape = rng.random()
    if shape < 0.25:
        # Words of real posts must not speak for "neutral" by being unknown.
        around = neutral_piece(rng, split) if rng.random() < 0.6 else plain(rng, split)
        text = rng.choice([f"{around} {text}", f"{text} {around}"])
    elif shape < 0.35:
        text = f"{plain(rng, split)}{rng.choice(['. ', ', ', ' - ', '! '])}{text}"
    elif shape < 0.48:
        text = f"{text}{rng.choice(['. ', ', ', ' - ', '! '])}{plain(rng, split)}"
    elif shape < 0.66:
        text = f"{text}{rng.choice(['. ', ', ', '! ', ' and '])}{opinion(rng, label, split)}"
    return decorate(rng, text, label)


def few_shot(rng, split, text):
    """Two or three solved examples before the text."""
    shots = rng.sample(LABELS, rng.choice([2, 3]))
    arrow = rng.choice([" -> ", " => ", "\nSentiment: ", "\nLabel: "])
    rows = [f"{draw(rng, label, split)[0]}{arrow}{label}" for label in shots]
    head = rng.choice(["", "Classify the sentiment.\n", "Sentiment, as in the examples.\n"])
    return [("user", head + "\n".join(rows) + "\n" + text + arrow.rstrip())]


def example(rng, split="train"):
    """(messages, answer, soft)"""
    label = rng.choices(LABELS, LABEL_SHARES)[0]
    text, soft = draw(rng, label, split)
    if soft:
        label, soft = max(soft, key=soft.get), list(soft.items())
    text = injected(rng, text, split, 0.03)
    kind = rng.random()
    if kind < 0.06:
        return few_shot(rng, split, text), label, soft
    if kind < 0.2:
        return [("system", SYSTEM.pick(rng, split)), ("user", text)], label, soft
    return ask(rng, polite(rng, ASK.pick(rng, split)), text), label, soft

"""Copy the email, date, amount or phone number out of a text.

Everything is generated: sentences with slots, at most one entity of each kind, and distractors
(order numbers, times, rooms). A kind that is absent is answered `none`, or `null` inside JSON.
"""

import json
import re

from names import CITY, FIRST
from pools import fill, injected, lines, polite, unescape, words
from values import amount, clock, date, email, phone, some_name

KINDS = ("email", "date", "amount", "phone")

THING = words("""order, invoice, ticket, parcel, contract, subscription, laptop, phone case, sofa,
bicycle, course, room, table, flight, report, printer, camera, guitar, desk, jacket, repair,
membership, insurance policy, booking, deposit, conference, workshop, concert, lamp, shipment""")
COMPANY = words("""Acme Ltd, Northwind, Globex, Initech, Contoso, Umbrella Corp, the bakery,
the city library, Green Leaf Foods, Blue Wave Travel, Oakwood School, Fast Ship, the dentist,
Dr. Patel's office, the landlord, the repair shop, the hotel, our bank, the garage, Sunrise Hotel,
Ironclad Security, Data Works, Bright Side Energy, the clinic, the theatre""")

# Slots: {email} {date} {amount} {phone} are entities; the others are filler.
SENTENCE = lines("""
Please contact {name} at {email}.
You can reach me at {email}.
You can reach {name} at {phone}.
My email is {email}.
my email address is {email} and i live in {city}
Email: {email}
Send the documents to {email} by {date}.
Write to {email} if you have questions about the {thing}.
For support, mail {email} or call {phone}.
Call me at {phone}.
Call {phone} after {time}.
My phone number is {phone}.
my number is {phone}, call me any time
Phone: {phone}
Tel. {phone}
{name} can be reached on {phone} or by mail at {email}.
The meeting is on {date} at {time}.
The {thing} will arrive on {date}.
We will see you on {date} in {city}.
Date: {date}
The deadline is {date}.
{name} was born on {date}.
The {thing} is due on {date}, please do not be late.
The total is {amount}.
Total: {amount}
Amount due: {amount}
You owe {company} {amount}.
The {thing} costs {amount}.
I paid {amount} for the {thing}.
Invoice no. {num} over {amount} is due on {date}.
On {date} we received your payment of {amount}.
{name} sent {amount} to {company} on {date}.
A refund of {amount} was sent to your account.
The price went up to {amount} since {date}.
Your {thing} number {num} has shipped.
Your reference is {num}.
Hello {name},
Hi, this is {name} from {company}.
Best regards, {name}
Thank you for choosing {company}.
We look forward to seeing you in {city}.
I would like to ask about the {thing}.
The {thing} was damaged when it arrived.
Room {small}, second floor.
Please bring your {thing} with you.
{name} and {name2} will join us in {city}.
Doors open at {time}.
The office in {city} has {small} employees.
Order {num}: {thing}, {amount}.
Dear {name}, your {thing} is confirmed for {date}.
To cancel, write to {email} before {date}.
To pay the {amount}, call {phone}.
If the {thing} is late, ring {phone}.
Contact: {name}, {email}, {phone}
{name} <{email}>
From: {email}
{company}, {city}, tel {phone}
Reminder: {amount} for the {thing} by {date}.
Could you transfer {amount} to {name} today?
I moved to {city} on {date} and my new number is {phone}.
He lost {amount} on {date}.
Please confirm your {thing} by replying to {email}.
Questions? {email}
We tried to call you on {phone}.
the bill from {company} was {amount}
i need the {thing} before {date}
her address is {email} i think
They charged me {amount} twice!
""").widen(
    """
(My|Our|His|The office's|The new|{name}'s) (email|mail|e-mail address|mailbox) is {email}(.|, thanks.|)
(Mail|Write|Send a note|Answer) (to |){email}(| by {date}| before {time}| about the {thing})(.|)
(You will find|You find|Find) (me|us|{name}) (under|at) {email}(.|)
(The account|The user|The login) {email} was (locked|created|changed)( on {date}|)(.|)
(My|Our|His|The shop's|{name}'s|The office) (mobile|phone|telephone|number) is {phone}(.|)
(Ring|Call|Dial|Phone|Text|Try) {phone}(| to reach {name}| for the {thing}| before {time}| today)(.|)
({name}|{company}|The driver|The doctor) (called|rang|wrote) from {phone}(.|)
(The|Our) (course|concert|tour|party|trip|visit) (is|starts|begins|ends) on {date}(.|, {time}.| in {city}.)
(It|This|The {thing}) was (made|bought|sent|repaired|ordered|paid|signed) on {date}(.|)
(Since|Until|From|After) {date} (the shop is closed|we are open again|{name} lives in {city})(.|)
(The bill|The rent|The fee|The deposit|A ticket|The repair|It) (is|was|comes to|costs) {amount}(.|)
(We|They|{name}|{company}) (paid|owes|wants|received|asked for|lent us) {amount}(| for the {thing}| last week)(.|)
(The {thing}|Room {small}|Number {num}) is (free|ready|gone|too loud|on the list)(.|)
({name}|{name2}) (works for|visited|wrote to|likes) {company}(| in {city})(.|)
"""
)

ASK_NAME = {
    "email": ["email address", "email", "e-mail", "e-mail address", "mail address"],
    "date": ["date", "date", "day and date", "calendar date"],
    "amount": ["amount", "amount of money", "price or amount", "amount", "sum of money"],
    "phone": ["phone number", "telephone number", "phone", "number to call", "contact number"],
}

ASK_ONE = lines("""
Extract the {what} from: {text}
Extract the {what} from this text: {text}
Extract the {what}: {text}
What is the {what} in this text? {text}
What's the {what} in this text? {text}
what is the {what} here: {text}
Find the {what}: {text}
Find the {what} in the following text.\\n\\n{text}
Give me the {what} from this message: {text}
Return only the {what}.\\n{text}
{text}\\n\\nWhat is the {what}?
{text}\\nExtract the {what}.
Which {what} is mentioned? {text}
Which {what} does this mention: "{text}"
Pull out the {what}: {text}
Pull the {what} out of this: {text}
Please extract the {what} from the text below.\\n\\n{text}
Please find the {what} in: {text}
Get the {what} from "{text}"
Text: {text}\\nTask: extract the {what}
Text: {text}\\nWhat {what} does it contain?
Read this and tell me the {what}: {text}
Is there a {what} in this text? If so, give it, otherwise say none. {text}
Copy the {what} from this text: {text}
Identify the {what} in: {text}
can you extract the {what} from this: {text}
I need the {what} from this message:\\n{text}
Show me the {what} in the text: {text}
""").widen(
    """
(|Please )(extract|find|get|copy|return|give|show|read|take|pick|pull) (out |)the {what} (from|in|out of) (the text|this text|the message|this message|the sentence|the lines|the mail)(: |:\\n|.\\n\\n){text}
(What is|Which is|Tell me|Say|Where is|Show) the {what}(| in this message| in this mail| given here| mentioned there)(?|:|? Answer with it alone.) {text}
{text}\\n(\\n|)(Tell me|Give|Find|Copy|Return|Name|Show|Pick out) the {what}(.|, please.|)
{text}\\n(\\n|)(Which {what} is it|Which {what} stands here|The {what}|Wanted: {what})(?|:)
(Text|Message|Mail|Note|Input)(: |:\\n){text}\\n({what}|The {what}|Wanted: {what}|Answer with the {what}|Question: which {what} is there)(:|?)
The {what} (of|in|from) (this|the text|the message)(: |:\\n|? ){text}
(Could you|Would you|Can you) (find|tell me|copy|give me) the {what} (in|from) (this|the text)(: |? |?\\n){text}
(Only|Just) the {what}(, please|)(: |:\\n|.\\n){text}
"""
)

ASK_JSON = lines("""
Extract the {what} as JSON from: {text}
Extract the {what} from this text as JSON: {text}
Extract {what} as JSON: {text}
Return the {what} as a JSON object.\\n{text}
Give me the {what} in JSON: {text}
Find the {what} in the following text and answer in JSON.\\n\\n{text}
{text}\\n\\nExtract the {what} as JSON.
{text}\\nGive the {what} as a JSON object.
Please extract the {what} from the text below. Answer with JSON.\\n\\n{text}
Text: {text}\\nOutput the {what} as JSON.
As JSON, what are the {what} here? {text}
Pull out the {what} as JSON: {text}
Read this message and return JSON with the {what}: {text}
What are the {what}? Use JSON. {text}
JSON with {what}: {text}
""").widen(
    """
(|Please )(extract|find|get|copy|return|give|show|take|pull) the {what} (from|in|out of) (the text|this text|the message|this message|the lines) (as JSON|in JSON|and write JSON|as a JSON object)(: |:\\n|.\\n\\n){text}
(What is|Which is|Tell me|Show) the {what}(| in this message| in this mail)? (Answer in|Write|Use|Reply with) JSON. {text}
{text}\\n(\\n|)(Tell me|Give|Find|Copy|Write|Show|Return) the {what} (as JSON|in JSON|as a JSON object)(.|, please.|)
(Text|Message|Mail|Note|Input)(: |:\\n){text}\\n(JSON with|JSON of|As JSON:) the {what}(:|)
(JSON|A JSON object|JSON only)(, please: |: )the {what}(.\\n|:\\n| of ){text}
"""
)

ASK_ALL = {
    ("email", "phone"): ["contact details", "contact information", "contact data"],
    KINDS: ["email, date, amount and phone", "details (email, date, amount, phone)"],
}

SYSTEM_ONE = lines("""
Extract the {what} from the user's message. Answer none if there is none.
You extract the {what} from texts. Reply with the {what} only.
Return only the {what} found in the text.
You are an extraction tool. Output the {what} or none.
Find the {what} in each message.
Your task: copy the {what} out of the message.
You are a data extraction assistant. Output only the {what}.
""")


MAKE = {"email": email, "date": date, "amount": amount, "phone": phone}


def make_text(rng, split="train", wanted=()):
    """(text, {kind: value}): one to four sentences, at most one entity of each kind."""
    found, out = {}, []
    count = rng.choice([1, 1, 2, 2, 3, 4])
    for _attempt in range(40):
        sentence = SENTENCE.pick(rng, split)
        kinds = [k for k in KINDS if "{" + k + "}" in sentence]
        missing = [k for k in wanted if k not in found]
        last = len(out) >= count - 1
        if any(k in found for k in kinds):
            continue
        if last and missing and not set(kinds) & set(missing):
            continue
        for kind in kinds:
            found[kind] = MAKE[kind](rng)
        first, surname = some_name(rng)
        full = first.capitalize() + rng.choice(["", " " + surname.capitalize()])
        out.append(
            fill(
                sentence,
                **found,
                name=full,
                name2=FIRST.pick(rng).capitalize(),
                city=CITY.pick(rng),
                thing=THING.pick(rng),
                company=COMPANY.pick(rng),
                num=str(rng.randrange(100, 1000000)),
                small=str(rng.randrange(2, 400)),
                time=clock(rng),
            )
        )
        if len(out) >= count and all(k in found for k in wanted):
            break
    return rng.choice([" ", " ", " ", "\n"]).join(out), found


def join_names(rng, names):
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + rng.choice([" and ", " and ", ", "]) + names[-1]


def example(rng, split="train"):
    """(messages, answer)"""
    if rng.random() < 0.35:
        return json_example(rng, split)
    kind = rng.choice(KINDS)
    wanted = (kind,) if rng.random() < 0.85 else ()
    text, found = make_text(rng, split, wanted)
    text = injected(rng, text, split, 0.02)
    what = rng.choice(ASK_NAME[kind])
    answer = found.get(kind, "none")
    if rng.random() < 0.08:
        return [("system", fill(SYSTEM_ONE.pick(rng, split), what=what)), ("user", text)], answer
    asked = fix_article(fill(unescape(polite(rng, ASK_ONE.pick(rng, split))), what=what, text=text))
    return [("user", asked)], answer


def fix_article(text):
    return re.sub(r"\ba (e-?mail|amount)", r"an \1", text, count=1)


def json_example(rng, split):
    if rng.random() < 0.25:
        kinds = rng.choice(list(ASK_ALL))
        what = rng.choice(ASK_ALL[kinds])
    else:
        kinds = rng.sample(KINDS, rng.choice([1, 2, 2, 2, 3, 4]))
        what = join_names(rng, [rng.choice(ASK_NAME[k]) for k in kinds])
    wanted = [k for k in kinds if rng.random() < 0.8]
    text, found = make_text(rng, split, wanted)
    text = injected(rng, text, split, 0.02)
    asked = fill(unescape(polite(rng, ASK_JSON.pick(rng, split))), what=what, text=text)
    answer = json.dumps({k: found.get(k) for k in kinds}, ensure_ascii=False)
    return [("user", asked)], answer

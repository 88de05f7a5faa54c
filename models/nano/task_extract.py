"""Task 2: copy the email, date, amount or phone number out of a text.

Everything is generated: sentences with slots, at most one entity of each kind, and distractors
(order numbers, times, rooms). A kind that is absent is answered `none`, or `null` inside JSON.
"""

import json
import re

from pools import Pool, fill, lines, pseudo_word, words

KINDS = ("email", "date", "amount", "phone")

FIRST = words("""james, mary, robert, patricia, john, jennifer, michael, linda, david, elizabeth,
william, barbara, richard, susan, joseph, jessica, thomas, sarah, carlos, karen, chris, lisa,
daniel, nancy, matthew, sandra, anthony, ashley, mark, emily, donald, kim, steven, donna, paul,
michelle, andrew, carol, joshua, amanda, ken, melissa, kevin, deborah, brian, stephanie, george,
rebecca, timothy, laura, ahmed, fatima, wei, mei, yuki, hiro, olga, ivan, sofia, mateo, lucia,
priya, raj, anita, omar, leila, noah, emma, liam, olivia, ava, mia, lucas, leo, hugo, chloe, ines,
lars, ingrid, sven, anna, piotr, zofia, jan, eva, marco, giulia, amir, nadia, kofi, ama, tunde""")
LAST = words("""smith, johnson, williams, brown, jones, garcia, miller, davis, martinez, lopez,
wilson, anderson, taylor, moore, jackson, martin, lee, perez, thompson, white, harris, clark,
lewis, robinson, walker, young, allen, king, wright, scott, torres, nguyen, hill, flores, green,
adams, nelson, baker, hall, rivera, campbell, mitchell, carter, roberts, khan, patel, singh, chen,
wang, kim, park, tanaka, sato, ivanov, petrov, novak, kowalski, muller, schmidt, weber, fischer,
rossi, bianchi, silva, santos, costa, okafor, mensah, hassan, ali, cohen, levy, larsen, berg""")
DOMAIN = words("""example, acme, northwind, globex, initech, contoso, fabrikam, umbrella, gmail,
outlook, yahoo, mail, proton, company, school, hospital, library, bakery, garden, cityhall, museum,
techlab, bluewave, redstone, greenleaf, sunrise, riverbank, oakwood, fastship, bestbuy, travelhub,
mybank, shopnow, cloudnine, dataworks, softpeak, ironclad, silverline, brightside, skyline""")
TLD = ["com"] * 6 + ["org", "net", "io", "co.uk", "de", "fr", "edu", "info", "dev", "co", "ca",
                     "com.au", "eu", "jp", "in", "app", "biz", "us"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December"]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
CITY = words("""London, Paris, Berlin, Madrid, Rome, Boston, Chicago, Denver, Seattle, Austin,
Toronto, Sydney, Tokyo, Osaka, Lagos, Nairobi, Cairo, Mumbai, Delhi, Lima, Oslo, Vienna, Prague,
Warsaw, Dublin, Lisbon, Zurich, Geneva, Milan, Athens""")
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
""")

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
""")

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
""")

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


def some_name(rng):
    if rng.random() < 0.25:
        return pseudo_word(rng), pseudo_word(rng)
    return FIRST.pick(rng), LAST.pick(rng)


def make_email(rng):
    first, last = some_name(rng)
    number = str(rng.randrange(1, rng.choice([10, 100, 1000, 10000])))
    local = rng.choice([
        first, f"{first}.{last}", f"{first}.{last}", f"{first}_{last}", f"{first}{last}",
        f"{first[0]}{last}", f"{first[0]}.{last}", f"{last}.{first}", f"{first}{number}",
        f"{first}.{last}{number}", f"{last}{number}", f"{first}-{last}",
        rng.choice(["info", "support", "sales", "office", "hello", "contact", "billing", "admin",
                    "team", "jobs", "help", "orders", "accounts", "noreply", "press"]),
        pseudo_word(rng, 3)])
    domain = DOMAIN.pick(rng) if rng.random() < 0.5 else pseudo_word(rng, rng.choice([2, 2, 3]))
    if rng.random() < 0.15:
        domain += rng.choice(["-", "."]) + rng.choice([pseudo_word(rng, 1), DOMAIN.pick(rng)])
    if rng.random() < 0.05:
        domain += str(rng.randrange(1, 100))
    email = f"{local}@{domain}.{rng.choice(TLD)}"
    return email if rng.random() < 0.93 else email[:1].upper() + email[1:]


def make_date(rng):
    year, month, day = rng.randrange(1950, 2040), rng.randrange(1, 13), rng.randrange(1, 29)
    if rng.random() < 0.7:
        year = rng.randrange(2018, 2032)
    name = MONTHS[month - 1]
    short = name[:3]
    suffix = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(day, "th")
    return rng.choice([
        f"{year}-{month:02d}-{day:02d}", f"{year}-{month:02d}-{day:02d}",
        f"{month:02d}/{day:02d}/{year}", f"{month}/{day}/{year}", f"{day:02d}/{month:02d}/{year}",
        f"{day:02d}.{month:02d}.{year}", f"{day}.{month}.{year}", f"{name} {day}, {year}",
        f"{name} {day}, {year}", f"{day} {name} {year}", f"{name} {day}", f"{day} {name}",
        f"{name} {day}{suffix}", f"{short} {day}, {year}", f"{day} {short} {year}",
        f"{rng.choice(WEEKDAYS)}, {name} {day}", f"{year}/{month:02d}/{day:02d}"])


def make_amount(rng):
    whole = rng.randrange(1, rng.choice([10, 100, 1000, 10000, 100000, 2000000]))
    text = f"{whole:,}" if rng.random() < 0.7 else str(whole)
    if rng.random() < 0.55:
        text += f".{rng.randrange(100):02d}"
    return rng.choice([f"${text}", f"${text}", f"${text}", f"€{text}", f"£{text}", f"{text} EUR",
                       f"{text} USD", f"{text} dollars", f"{text} euros", f"USD {text}",
                       f"{text} €", f"{text} pounds", f"{text} CHF", f"EUR {text}"])


def make_phone(rng):
    def digits(count):
        return "".join(rng.choice("0123456789") for _ in range(count))
    area = rng.choice("23456789") + digits(2)
    return rng.choice([
        f"{area}-{digits(4)}", f"({area}) {digits(3)}-{digits(4)}",
        f"{area}-{digits(3)}-{digits(4)}",
        f"+1 {area}-{digits(3)}-{digits(4)}", f"+1 ({area}) {digits(3)}-{digits(4)}",
        f"{area}.{digits(3)}.{digits(4)}", f"{area} {digits(3)} {digits(4)}",
        f"+44 20 {digits(4)} {digits(4)}", f"+49 {digits(2)} {digits(7)}",
        f"0{digits(4)} {digits(6)}",
        f"+33 1 {digits(2)} {digits(2)} {digits(2)} {digits(2)}", f"+{digits(2)} {digits(10)}",
        f"{area}{digits(7)}", f"1-800-{digits(3)}-{digits(4)}", f"+1{area}{digits(7)}"])


MAKE = {"email": make_email, "date": make_date, "amount": make_amount, "phone": make_phone}


def make_text(rng, split="train", wanted=()):
    """(text, {kind: value}): one to four sentences, at most one entity of each kind."""
    found, out = {}, []
    count = rng.choice([1, 1, 2, 2, 3, 4])
    for attempt in range(40):
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
        hour = rng.randrange(1, 13)
        out.append(fill(sentence, **found, name=full, name2=FIRST.pick(rng).capitalize(),
                        city=CITY.pick(rng), thing=THING.pick(rng), company=COMPANY.pick(rng),
                        num=str(rng.randrange(100, 1000000)), small=str(rng.randrange(2, 400)),
                        time=rng.choice([f"{hour}:{rng.choice(['00', '15', '30', '45'])}",
                                         f"{hour} {rng.choice(['am', 'pm'])}", f"{hour + 11}:30"])))
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
    what = rng.choice(ASK_NAME[kind])
    answer = found.get(kind, "none")
    if rng.random() < 0.08:
        return [("system", fill(SYSTEM_ONE.pick(rng, split), what=what)), ("user", text)], answer
    asked = fix_article(fill(ASK_ONE.pick(rng, split).replace("\\n", "\n"), what=what, text=text))
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
    asked = fill(ASK_JSON.pick(rng, split).replace("\\n", "\n"), what=what, text=text)
    answer = json.dumps({k: found.get(k) for k in kinds}, ensure_ascii=False)
    return [("user", asked)], answer

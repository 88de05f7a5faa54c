"""Values that texts carry: dates, amounts, phone numbers, addresses, identity and card numbers.

Check digits are right where a format has them (Luhn, IBAN's modulus 97), because detectors and
readers test them. All numbers are random: none is known to belong to anyone.
"""

import calendar
import string

from names import COMPANY_HEAD, COMPANY_TAIL, COUNTRIES, FIRST, LAST
from pools import pseudo_word, words

DOMAIN = words("""example, acme, northwind, globex, initech, contoso, fabrikam, umbrella, gmail,
outlook, yahoo, mail, proton, company, school, hospital, library, bakery, garden, cityhall, museum,
techlab, bluewave, redstone, greenleaf, sunrise, riverbank, oakwood, fastship, bestbuy, travelhub,
mybank, shopnow, cloudnine, dataworks, softpeak, ironclad, silverline, brightside, skyline""")
TLD = ["com"] * 6 + [
    "org",
    "net",
    "io",
    "co.uk",
    "de",
    "fr",
    "edu",
    "info",
    "dev",
    "co",
    "ca",
    "com.au",
    "eu",
    "jp",
    "in",
    "app",
    "biz",
    "us",
    "nl",
    "es",
    "it",
    "ch",
    "pl",
]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
US_STATES = ["CA", "TX", "NY", "FL", "OH", "WA", "CO", "IL", "GA", "MA", "AZ", "NV", "OR", "MI"]
PLAIN = str.maketrans(
    "äöüßéèêëàâáãåçñíîìóôòõúùûýłśńąęćżźşğıİŞÇÖÄÅØø",
    "aousEeeeaaaaacniiiooooouuylsnaeczzsgiISCOAAOo".lower(),
)


def digits(rng, count):
    return "".join(rng.choice("0123456789") for _ in range(count))


def pattern(rng, text):
    """Replace # by digits (no leading zero in a run that begins the value) and A by capitals."""
    out = ""
    for i, mark in enumerate(text):
        if mark == "#":
            out += (
                rng.choice("123456789")
                if i == 0 or text[i - 1] in "+( "
                else rng.choice("0123456789")
            )
        else:
            out += rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") if mark == "A" else mark
    return out


def country(rng):
    return rng.choice(list(COUNTRIES.values()))


def some_name(rng):
    """(first, last) in lower case; a quarter is invented, so that copying is not learned by
    heart."""
    if rng.random() < 0.25:
        return pseudo_word(rng), pseudo_word(rng)
    return FIRST.pick(rng), LAST.pick(rng)


def person(rng, land=None):
    """A full or a single name."""
    land = land or country(rng)
    first, last = rng.choice(land.first), rng.choice(land.last)
    shape = rng.random()
    if shape < 0.62:
        return f"{first} {last}"
    if shape < 0.76:
        return first
    if shape < 0.81:
        return f"{first} {rng.choice('ABCDEFGHJKLMRSTW')}. {last}"
    if shape < 0.86:
        return f"{first[0]}. {last}"
    if shape < 0.9:
        return f"{first} {last}-{rng.choice(land.last)}"
    return f"{pseudo_word(rng).capitalize()} {pseudo_word(rng).capitalize()}"


def plain(text):
    return "".join(c for c in text.lower().translate(PLAIN) if c.isascii() and c.isalnum())


def email(rng, owner=None):
    if owner and " " in owner:
        first, last = plain(owner.split(" ")[0]), plain(owner.split(" ")[-1])
    else:
        first, last = some_name(rng)
    first, last = first or "info", last or "office"
    number = str(rng.randrange(1, rng.choice([10, 100, 1000, 10000])))
    local = rng.choice(
        [
            first,
            f"{first}.{last}",
            f"{first}.{last}",
            f"{first}_{last}",
            f"{first}{last}",
            f"{first[0]}{last}",
            f"{first[0]}.{last}",
            f"{last}.{first}",
            f"{first}{number}",
            f"{first}.{last}{number}",
            f"{last}{number}",
            f"{first}-{last}",
            rng.choice(
                [
                    "info",
                    "support",
                    "sales",
                    "office",
                    "hello",
                    "contact",
                    "billing",
                    "admin",
                    "team",
                    "jobs",
                    "help",
                    "orders",
                    "accounts",
                    "noreply",
                    "press",
                ]
            ),
            pseudo_word(rng, 3),
        ]
    )
    domain = DOMAIN.pick(rng) if rng.random() < 0.6 else pseudo_word(rng, rng.choice([2, 2, 3]))
    if rng.random() < 0.12:
        domain += rng.choice(["-", "."]) + rng.choice([pseudo_word(rng, 1), DOMAIN.pick(rng)])
    if rng.random() < 0.05:
        domain += str(rng.randrange(1, 100))
    text = f"{local}@{domain}.{rng.choice(TLD)}"
    return text if rng.random() < 0.93 else text[:1].upper() + text[1:]


def day(rng, first=1950, last=2040):
    """(year, month, day), mostly of the years around now."""
    year = rng.randrange(2018, 2032) if rng.random() < 0.6 else rng.randrange(first, last)
    month = rng.randrange(1, 13)
    return year, month, rng.randrange(1, calendar.monthrange(year, month)[1] + 1)


def ordinal(number):
    if 10 < number % 100 < 14:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def date(rng):
    """A date as people write it."""
    year, month, d = day(rng)
    name = MONTHS[month - 1]
    short = name[:3]
    return rng.choice(
        [
            f"{year}-{month:02d}-{d:02d}",
            f"{year}-{month:02d}-{d:02d}",
            f"{month:02d}/{d:02d}/{year}",
            f"{month}/{d}/{year}",
            f"{d:02d}/{month:02d}/{year}",
            f"{d:02d}.{month:02d}.{year}",
            f"{d}.{month}.{year}",
            f"{name} {d}, {year}",
            f"{name} {d}, {year}",
            f"{d} {name} {year}",
            f"{name} {d}",
            f"{d} {name}",
            f"{name} {ordinal(d)}",
            f"{short} {d}, {year}",
            f"{d} {short} {year}",
            f"{rng.choice(WEEKDAYS)}, {name} {d}",
            f"{year}/{month:02d}/{d:02d}",
        ]
    )


def amount(rng):
    whole = rng.randrange(1, rng.choice([10, 100, 1000, 10000, 100000, 2000000]))
    text = f"{whole:,}" if rng.random() < 0.7 else str(whole)
    if rng.random() < 0.55:
        text += f".{rng.randrange(100):02d}"
    return rng.choice(
        [
            f"${text}",
            f"${text}",
            f"${text}",
            f"€{text}",
            f"£{text}",
            f"{text} EUR",
            f"{text} USD",
            f"{text} dollars",
            f"{text} euros",
            f"USD {text}",
            f"{text} €",
            f"{text} pounds",
            f"{text} CHF",
            f"EUR {text}",
        ]
    )


def phone(rng, land=None):
    land = land or country(rng)
    if rng.random() < 0.7:
        return pattern(rng, rng.choice(land.phones))
    area = rng.choice("23456789") + digits(rng, 2)
    return rng.choice(
        [
            f"{area}-{digits(rng, 4)}",
            f"+{digits(rng, 2)} {digits(rng, 10)}",
            f"1-800-{digits(rng, 3)}-{digits(rng, 4)}",
            f"+1{area}{digits(rng, 7)}",
            f"({area}) {digits(rng, 3)}-{digits(rng, 4)}",
        ]
    )


def postcode(rng, land=None):
    return pattern(rng, (land or country(rng)).postcode)


def address(rng, land=None):
    land = land or country(rng)
    text = rng.choice(land.address)
    slots = {
        "n": str(rng.randrange(1, rng.choice([100, 100, 2000]))),
        "m": str(rng.randrange(1, 60)),
        "street": rng.choice(land.streets),
        "city": rng.choice(land.cities),
        "post": pattern(rng, land.postcode),
        "state": rng.choice(US_STATES),
    }
    for name, value in slots.items():
        text = text.replace("{" + name + "}", value)
    return text


def city(rng, land=None):
    return rng.choice((land or country(rng)).cities)


def company(rng):
    head = COMPANY_HEAD.pick(rng) if rng.random() < 0.8 else pseudo_word(rng).capitalize()
    return head if rng.random() < 0.15 else f"{head} {COMPANY_TAIL.pick(rng)}"


def luhn(number):
    """The number with its Luhn check digit (ISO/IEC 7812-1) appended."""
    total = 0
    for i, mark in enumerate(reversed(number)):
        value = int(mark) * (2 if i % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return number + str(-total % 10)


def card(rng):
    """A payment card number, grouped or not."""
    if rng.random() < 0.15:
        number = luhn(rng.choice(["34", "37"]) + digits(rng, 12))
        return number if rng.random() < 0.5 else f"{number[:4]} {number[4:10]} {number[10:]}"
    head = rng.choice(["4", "51", "52", "55", "2221", "6011"])
    number = luhn(head + digits(rng, 15 - len(head)))
    mark = rng.choice(["", " ", " ", "-"])
    return mark.join(number[i : i + 4] for i in range(0, 16, 4))


IBAN_LAYOUT = {
    "DE": "##################",
    "FR": "####################A##",
    "GB": "AAAA##############",
    "ES": "####################",
    "NL": "AAAA##########",
    "IT": "A######################",
    "PL": "########################",
    "CH": "#################",
    "BE": "############",
    "AT": "################",
    "PT": "#####################",
    "SE": "####################",
}


def iban(rng):
    """An IBAN with right check digits (ISO 13616: the number modulo 97 is 1), grouped or not."""
    land = rng.choice(list(IBAN_LAYOUT))
    body = "".join(
        rng.choice("0123456789") if c == "#" else rng.choice("ABCDEFGHKLMNPRST")
        for c in IBAN_LAYOUT[land]
    )
    number = "".join(str(int(c, 36)) for c in body + land + "00")
    text = land + f"{98 - int(number) % 97:02d}" + body
    return text if rng.random() < 0.5 else " ".join(text[i : i + 4] for i in range(0, len(text), 4))


def national_id(rng):
    """Numbers of the identity or tax systems of several countries, by layout."""
    return pattern(
        rng,
        rng.choice(
            [
                "###-##-####",
                "###-##-####",
                "###-##-####",
                "AA ## ## ## A",
                "########A",
                "A#######A",
                "### ### ###",
                "###.###.###-##",
                "#### #### ####",
                "AAAAA####A",
                "######-####",
                "###########",
                "## ## ## ### ### ##",
                "###-###-###",
            ]
        ),
    )


def passport(rng):
    return pattern(rng, rng.choice(["A########", "AA#######", "#########", "A#######", "AA######"]))


def plate(rng):
    return pattern(
        rng,
        rng.choice(
            ["AAA-####", "A-AA ####", "AA## AAA", "AA-###-AA", "#AAA###", "#### AAA", "A AA ###"]
        ),
    )


def ip(rng):
    if rng.random() < 0.8:
        return ".".join(str(rng.randrange(1, 255)) for _ in range(4))
    return "2001:db8:" + ":".join(f"{rng.randrange(65536):x}" for _ in range(rng.choice([3, 6])))


def url(rng):
    host = DOMAIN.pick(rng) if rng.random() < 0.6 else pseudo_word(rng, 2)
    return (
        rng.choice(["https://", "http://", "www.", "https://www."])
        + host
        + "."
        + rng.choice(TLD)
        + rng.choice(["", "", "/", f"/{pseudo_word(rng)}", f"/user/{rng.randrange(10, 9999)}"])
    )


def username(rng):
    first, last = some_name(rng)
    return rng.choice(
        [
            f"{first}{rng.randrange(1, 2000)}",
            f"{first}_{last}",
            f"{first}.{last}",
            f"{pseudo_word(rng, 2)}{rng.randrange(1, 100)}",
            f"{first[0]}{last}",
        ]
    )


def password(rng):
    word = pseudo_word(rng, 2)
    return rng.choice(
        [
            word.capitalize() + str(rng.randrange(10, 10000)) + rng.choice("!#?$%"),
            "".join(
                rng.choice(string.ascii_letters + string.digits + "!#$%?")
                for _ in range(rng.randrange(8, 13))
            ),
            f"{word}-{pseudo_word(rng)}-{rng.randrange(100)}",
        ]
    )


def api_key(rng):
    letters = string.ascii_letters + string.digits
    head = rng.choice(["sk-", "sk_live_", "ghp_", "AKIA", "key-", "xoxb-", "api_"])
    return head + "".join(rng.choice(letters) for _ in range(rng.choice([12, 16, 20])))


def age(rng):
    return str(rng.randrange(1, 96))


def reference(rng):
    """Numbers that are nobody's: orders, tickets, rooms."""
    return pattern(
        rng,
        rng.choice(
            ["#####", "######", "AA-####", "A####", "####-####", "INV-####", "##/####", "#######"]
        ),
    )


def clock(rng):
    hour = rng.randrange(1, 13)
    return rng.choice(
        [
            f"{hour}:{rng.choice(['00', '15', '30', '45'])}",
            f"{hour + 11}:30",
            f"{hour} {rng.choice(['am', 'pm'])}",
            f"{rng.randrange(24):02d}:{rng.randrange(60):02d}",
        ]
    )

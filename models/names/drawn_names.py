"""The names that stand in the texts of generate.py, drawn from a seed: people of many cultures,
places and organisations, each in the manners in which they are written."""

import pathlib
import re
import unicodedata

import known
import languages
import more_people
import organizations
import people
import places
import words

Segment = tuple[str, int | None]  # text and its first label, or None
PERSON, PLACE, ORG, STREET = 1, 3, 5, 7  # first label of each in tagger_file.h

HERE = pathlib.Path(__file__).resolve().parent
GREETINGS = languages.greetings()
ORDINARY = [w for w in (HERE / "ordinary.txt").read_text().split() if len(w) > 3]
MONTHS = (
    "January February March April May June July August September October November December".split()
)
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
JOBS = """teacher nurse driver engineer baker lawyer manager designer waiter plumber accountant
farmer editor analyst doctor cook electrician clerk developer librarian pilot painter tailor
photographer translator gardener mechanic architect receptionist consultant director chairman
spokeswoman head coach striker""".split()
NOUNS = """Wisdom Justice Freedom Marketing Sales Security Server Database Invoice Customer Budget
Strategy Design Quality Service Account Window Button Market Product Project Team Business
Leadership Success Growth Health Education Science History Math Biology Chemistry Energy Water Fire
Earth Light Night Morning Winter Summer Garden Kitchen Music Dance Movie Game Love Peace Truth
Power Money Time Life Death Nature Ocean Forest Mountain Chocolate Coffee Bread Cheese Chicken
Salad Soup Phone Laptop Camera Printer Travel Hotel Flight Ticket Insurance Policy Contract
Agreement Refund Delivery Order Password Profile Settings Report Meeting Schedule Deadline Goal
Plan Idea Question Answer Problem Solution Method Theory Model Data Analysis Research Experiment
Result""".split()
CULTURES = people.CULTURES | more_people.CULTURES
CULTURE_NAMES = list(CULTURES)
CULTURE_WEIGHTS = [people.WEIGHTS.get(name, 1.3) for name in CULTURE_NAMES]
TITLES = (
    "Mr. Mr Mrs. Mrs Ms. Ms Dr. Dr Prof. Professor Sir Miss Judge Senator Captain Herr Frau Señor"
    " Mme President Minister Pastor".split()
)
PARTICLES = "de van von di da del bin al der den du la le".split()


def strip_accents(text):
    table = str.maketrans(
        {
            "ø": "o",
            "Ø": "O",
            "ł": "l",
            "Ł": "L",
            "đ": "d",
            "Đ": "D",
            "ß": "ss",
            "æ": "ae",
            "Æ": "Ae",
            "ı": "i",
            "İ": "I",
            "ð": "d",
            "þ": "th",
            "Þ": "Th",
        }
    )
    return "".join(
        c
        for c in unicodedata.normalize("NFD", text.translate(table))
        if not unicodedata.combining(c)
    )


UNSEEN_EVERY = 8
KIND_WEIGHTS = [8, 7, 4, 2, 3, 3, 2]  # of Lists.kinds


class Lists:
    """The listed names: all, or (unseen = True or False) one in eight or the others, to measure
    what the tagger does with names that it never saw."""

    def __init__(self, unseen=None):
        def part(names):
            return [
                n
                for i, n in enumerate(names)
                if unseen is None or (i % UNSEEN_EVERY == 3) == unseen
            ]

        def joined(*lists):
            return list(dict.fromkeys(name for names in lists for name in names))

        self.cultures = {
            culture: (part(given), part(last)) for culture, (given, last) in CULTURES.items()
        }
        self.posts = part(known.SHORT), part(known.SURNAMES)
        self.cultures["english"] = tuple(
            joined(a, b) for a, b in zip(self.cultures["english"], self.posts)
        )
        self.famous = part(known.FAMOUS)
        self.cities, self.countries, self.regions = (
            part(places.CITIES),
            part(places.COUNTRIES),
            part(places.REGIONS),
        )
        self.landmarks, self.informal = part(places.LANDMARKS), part(places.INFORMAL)
        self.kinds = [
            part(names)
            for names in (
                organizations.KNOWN,
                known.FIRMS,
                known.PUBLIC,
                known.SCHOOLS,
                known.MEDIA,
                known.TEAMS,
                known.BANDS,
            )
        ]
        self.known = joined(*self.kinds)


class Names:
    """Draws what fills the slots. Every slot is a list of (text, label or None)."""

    def __init__(self, rng, lists):
        self.rng = rng
        self.lists = lists

    def culture(self):
        return self.rng.choices(CULTURE_NAMES, CULTURE_WEIGHTS)[0]

    def made(self, parts):
        stems, ends = (p.split() for p in parts)
        return self.rng.choice(stems).replace("_", " ") + (self.rng.choice(ends) if ends else "")

    def given(self, culture):
        r = self.rng.random()
        if r < 0.12:
            key = {
                "czech": "slavic",
                "polish": "slavic",
                "russian": "slavic",
                "south_slavic": "slavic",
                "west_african": "african",
                "east_southern_african": "african",
            }.get(culture, culture)
            return self.made(people.GIVEN_PARTS.get(key, people.GIVEN_PARTS["any"])).capitalize()
        return self.rng.choice(self.lists.cultures[culture][0])

    def surname(self, culture):
        rng = self.rng
        if culture in people.SURNAME_PARTS and rng.random() < 0.4:
            word = self.made(people.SURNAME_PARTS[culture])
        else:
            word = rng.choice(self.lists.cultures[culture][1])
        if rng.random() < 0.03:
            word += "-" + rng.choice(self.lists.cultures[culture][1])
        return word

    def full(self, culture=None):
        rng = self.rng
        if rng.random() < 0.06:
            return [(rng.choice(self.lists.famous), PERSON)]
        culture = culture or self.culture()
        if rng.random() < 0.06:  # people move, families mix
            first, last = self.given(self.culture()), self.surname(self.culture())
        else:
            first, last = self.given(culture), self.surname(culture)
        r = rng.random()
        initial = rng.choice("ABCDEFGHJKLMNPRSTW")
        if r < 0.70:
            text = f"{first} {last}"
        elif r < 0.76:
            text = f"{first} {initial}. {last}"
        elif r < 0.79:
            text = f"{first} {self.given(culture)} {last}"
        elif r < 0.82:
            text = f"{first[0]}. {last}"
        elif r < 0.84:
            text = f"{initial}. {rng.choice('ABCDEFGHJKLMPRSTW')}. {last}"
        elif r < 0.86:
            text = f"{first[0]}.{initial}. {last}"
        elif r < 0.90:
            text = f"{last}, {first}"
        elif r < 0.92:
            text = (
                f"{first} {last}"
                f" {rng.choice(['Jr.', 'Sr.', 'III', 'II', 'MD', 'PhD', 'DDS', 'Esq.'])}"
            )
        elif r < 0.94:
            text = f"{last} {first}"
        elif r < 0.96:
            text = f"{first} {rng.choice(PARTICLES)} {last}"
        elif r < 0.98:
            text = f"{first} {last.upper()}"
        else:
            text = f"{first} {initial} {last}"
        return [(text, PERSON)]

    def p(self):
        r = self.rng.random()
        culture = self.culture()
        if r < 0.72:
            return self.full(culture)
        if r < 0.88:
            return [(self.given(culture), PERSON)]
        if r < 0.94:
            return [(self.surname(culture), PERSON)]
        return self.tp()

    def pf(self):
        return [(self.given(self.culture()), PERSON)]

    def pl(self):
        return [(self.surname(self.culture()), PERSON)]

    def tp(self):
        title = self.rng.choice(TITLES)
        who = self.pl() if self.rng.random() < 0.6 else self.full()
        return [(title + " ", None)] + who

    def town(self):
        rng = self.rng
        prefix = rng.choice(places.TOWN_PREFIX)
        word = rng.choice(places.TOWN_STEM) + (
            rng.choice(places.TOWN_SUFFIX) if rng.random() < 0.85 else ""
        )
        return prefix + word.lower() if prefix and not prefix.endswith(" ") else prefix + word

    def c(self):
        rng = self.rng
        if rng.random() < 0.03:
            return self.informal()
        r = rng.random()
        out: list[Segment]
        if r < 0.5:
            out = [(rng.choice(self.lists.cities), PLACE)]
        elif r < 0.9:
            out = [(self.town(), PLACE)]
        elif r < 0.94:
            out = [
                (
                    self.surname(self.culture())
                    + rng.choice(["", "ville", "burg", " City", " Springs", "ton"]),
                    PLACE,
                )
            ]
        elif r < 0.97:
            out = [
                (
                    self.town()
                    + " "
                    + rng.choice(
                        [
                            "nad Labem",
                            "am Main",
                            "an der Oder",
                            "upon Tyne",
                            "sur Mer",
                            "de la Sierra",
                            "del Mar",
                            "1",
                            "2",
                        ]
                    ),
                    PLACE,
                )
            ]
        else:
            out = [(rng.choice(self.lists.cities).upper(), PLACE)]
        if rng.random() < 0.06:
            out += [(", ", None), (rng.choice(places.STATE_CODES), PLACE)]
        return out

    def informal(self):
        name = self.rng.choice(self.lists.informal)
        lead = "the " if name.startswith("the ") else ""
        return ([(lead, None)] if lead else []) + [(name.removeprefix(lead), PLACE)]

    def n(self):
        rng = self.rng
        if rng.random() < 0.06:
            return self.informal()
        return [
            (rng.choice(self.lists.countries if rng.random() < 0.7 else self.lists.regions), PLACE)
        ]

    def pa(self):
        rng = self.rng
        r = rng.random()
        if r < 0.35:
            return self.c()
        if r < 0.55:
            return [(rng.choice(self.lists.landmarks), PLACE)]
        if r < 0.65:
            return self.n()
        form = rng.choice(places.NATURE).strip()
        name = self.surname(self.culture()) if rng.random() < 0.5 else rng.choice(self.lists.cities)
        lead = form.startswith("the ")
        return ([("the ", None)] if lead else []) + [
            (form.removeprefix("the ").replace("{X}", name), PLACE)
        ]

    def st(self):
        rng = self.rng
        key = rng.choice(list(places.STREET) + ["usps"] * 5)
        names = places.STREET_NAMES.get(key)
        culture = (
            key
            if key in self.lists.cultures
            else rng.choice(["english", "german", "spanish", self.culture()])
        )
        name = (
            rng.choice(names)
            if names and rng.random() < 0.6
            else self.given(culture)
            if rng.random() < 0.12
            else self.surname(culture)
        )
        if rng.random() < 0.1 and key not in ("german", "dutch", "swedish", "norwegian", "finnish"):
            name = self.given(culture) + " " + name
        street = rng.choice(places.STREET[key]).replace("{X}", name)
        number = str(rng.randint(1, 250)) + rng.choice(
            ["", "", "", "a", "B", f"/{rng.randint(1, 40)}", f"-{rng.randint(1, 40)}"]
        )
        first = key in ("english", "usps", "french", "indian") or rng.random() < 0.25
        if key == "usps" and rng.random() < 0.7:
            number = str(rng.randint(100, 99999))
        behind = rng.choice([" ", " ", " ", " ", ", ", " No. ", " N° ", " nº ", " nr ", " č. "])
        text = number + rng.choice([" ", " ", ", "]) + street if first else street + behind + number
        if rng.random() < 0.06:
            text = street
        if rng.random() < 0.2:
            text += rng.choice([", ", " ", "\n"]) + rng.choice(
                [
                    f"Apt. {rng.randint(1, 99)}",
                    f"Apt {rng.randint(1, 999)}",
                    f"Suite {rng.randint(100, 900)}",
                    f"#{rng.randint(1, 40)}",
                    f"Unit {rng.randint(1, 60)}",
                    f"Flat {rng.randint(1, 60)}",
                    f"{rng.randint(2, 30)}th floor",
                ]
            )
        return [(text, STREET)]

    def ph(self):
        shape = self.rng.choice(
            [
                "###-###-####",
                "(###) ###-####",
                "+## ## ### ## ##",
                "## ### ## ##",
                "### ### ###",
                "0## ########",
                "+1 ### ### ####",
                "###.###.####",
                "#### ######",
                "0####-######",
                "+### ### ######",
                "001-###-###-####",
                "### ## ##",
            ]
        )
        return [
            (
                re.sub("#", lambda m: str(self.rng.randint(0, 9)), shape)
                + self.rng.choice(
                    ["", "", "", "x###".replace("###", str(self.rng.randint(10, 999)))]
                ),
                None,
            )
        ]

    def zip(self):
        rng = self.rng
        shape = rng.choice(
            [
                "#####",
                "#####",
                "#####",
                "#####-####",
                "####",
                "######",
                "## ###",
                "###-####",
                "#### AA",
                "A#A #A#",
                "AA## #AA",
                "#####",
            ]
        )
        return re.sub(
            "[#A]",
            lambda m: rng.choice("0123456789" if m.group() == "#" else "ABCDEGHKLMNPRSTVWXY"),
            shape,
        )

    def ad(self):
        """A whole address, on one line or several."""
        rng = self.rng
        between = rng.choice([", ", ", ", "\n", "\n", " ", "\n ", "\n    "])
        out = self.st()
        if rng.random() < 0.15:
            out = [(str(rng.randint(1, 99)) + " " + out[0][0], STREET)]
        town: list[Segment] = [
            (self.town() if rng.random() < 0.7 else rng.choice(self.lists.cities), PLACE)
        ]
        if rng.random() < 0.12:
            town = [(town[0][0].upper(), PLACE)]
        zip: list[Segment] = [(self.zip(), STREET)] if rng.random() < 0.75 else []
        country: list[Segment] = (
            [(rng.choice(self.lists.countries), PLACE)] if rng.random() < 0.6 else []
        )
        state = (
            [(rng.choice([", ", " "]), None), (rng.choice(places.STATE_CODES), PLACE)]
            if rng.random() < 0.3
            else []
        )
        r = rng.random()
        if r < 0.35:
            line = town + state + ([(" ", None)] + zip if zip else [])
        elif r < 0.6:
            line = (zip + [(" ", None)] if zip else []) + town
        else:
            line = town + state
            country += ([(" ", None)] if country else []) + zip
        out = out + [(between, None)] + line
        return out + [(between, None)] + country if country else out

    def company(self):
        rng = self.rng
        a, b, c = (self.surname(self.culture()) for _ in range(3))
        r = rng.random()
        head = rng.choice(organizations.HEAD)
        made = rng.choice(organizations.MADE_START) + rng.choice(organizations.MADE_END)
        share = rng.random()
        if share < 0.04:
            return self.capitalised(rng.choice([2, 2, 3]))
        if share < 0.10:
            one, two = rng.choice(ORDINARY), rng.choice(ORDINARY)
            return (
                rng.choice(
                    [
                        one + two,
                        one.capitalize() + two.capitalize(),
                        one.capitalize() + two,
                        one[:4].capitalize() + two[:5],
                    ]
                )[:1].upper()
                + rng.choice([one + two, one + two.capitalize(), one[:4] + two[:5]])[1:]
                + rng.choice(["", "", "", " Inc", " " + rng.choice(organizations.FIELD)])
            )
        suffix, field = rng.choice(organizations.SUFFIX), rng.choice(organizations.FIELD)
        both = rng.choice(
            [
                "&",
                "and",
                "and",
                rng.choice(["y", "e", "et", "und", "och", "og", "en", "i", "ja", "și", "ve"]),
            ]
        )
        if r < 0.13:
            return f"{a} {suffix}"
        if r < 0.21:
            return f"{a}-{b}"
        if r < 0.29:
            return f"{a}, {b} {both} {c}"
        if r < 0.34:
            return f"{a} {both} {b}" + (f" {suffix}" if rng.random() < 0.4 else "")
        if r < 0.37:
            return f"{a}, {b} & {c} {suffix}"
        if r < 0.39:
            return f"{a} {b} {suffix}"
        if r < 0.44:
            return f"{a} {field}"
        if r < 0.51:
            return f"{head} {field}"
        if r < 0.56:
            return f"{head} {field} {suffix}"
        if r < 0.70:
            return made
        if r < 0.78:
            return f"{made} {rng.choice([suffix, field])}"
        if r < 0.81:
            return f"{self.given(self.culture())}'s {field}"
        if r < 0.85:
            return f"{rng.choice(self.lists.cities)} {field}"
        if r < 0.89:
            return f"{head} {rng.choice(organizations.FIELD)} {field}"
        if r < 0.93:
            return f"{self.capitalised(1)} {rng.choice([field, suffix])}"
        if r < 0.96:
            return "".join(rng.choice("ABCDEFGHIKLMNOPRSTVW") for _ in range(rng.randint(2, 4)))
        return f"The {head} {field}"

    def o(self):
        rng = self.rng
        r = rng.random()
        if r < 0.32:
            kind = rng.choices(self.lists.kinds, KIND_WEIGHTS)[0]
            return [(rng.choice(kind), ORG)]
        if r < 0.72:
            return [(self.company(), ORG)]
        if r < 0.97:
            form = rng.choice(organizations.INSTITUTION).strip()
            city = rng.choice(self.lists.cities) if rng.random() < 0.7 else self.town()
            text = (
                form.replace("{C}", city)
                .replace("{F}", self.given("english"))
                .replace("{L}", self.surname(self.culture()))
            )
            return [(text.replace("{W}", rng.choice(organizations.TOPIC)), ORG)]
        return [(rng.choice(organizations.PLAIN), ORG)]

    def w(self):
        rng = self.rng
        r = rng.random()
        if r < 0.35:
            return [(rng.choice(words.WORKS), None)]
        if r < 0.7:
            title = ("The " if rng.random() < 0.25 else "") + self.capitalised(rng.randint(1, 4))
            mark = rng.choice(["", "", '"', "*", "'"])
            return [(mark + title + mark, None)]
        if rng.random() < 0.6:
            word = rng.choice(words.PRODUCT)
            return [(word.capitalize() if rng.random() < 0.6 else word, None)]
        return [("The " + " of ".join(rng.sample(NOUNS, 2)), None)]

    def capitalised(self, count):
        """Ordinary words with capitals, little words without."""
        rng = self.rng
        out = [rng.choice(ORDINARY).capitalize() for _ in range(count)]
        if count > 2 and rng.random() < 0.5:
            out.insert(
                rng.randint(1, count - 1), rng.choice("of the and in for to with a on".split())
            )
        return " ".join(out)

    def h(self):
        if self.rng.random() < 0.4:
            return [(self.capitalised(self.rng.randint(1, 5)), None)]
        return [(self.rng.choice(words.HEADINGS), None)]

    def N(self):
        if self.rng.random() < 0.1:
            return [(self.rng.choice(words.ACRONYMS), None)]
        if self.rng.random() < 0.5:
            return [(self.capitalised(self.rng.choice([1, 1, 2])), None)]
        return [
            (
                self.rng.choice(NOUNS)
                + (" " + self.rng.choice(NOUNS) if self.rng.random() < 0.25 else ""),
                None,
            )
        ]

    def job(self):
        return [(self.rng.choice(JOBS), None)]

    def nat(self):
        return [(self.rng.choice(words.PEOPLES[:90]).capitalize(), None)]

    def d(self):
        rng = self.rng
        day, year = rng.randint(1, 28), rng.randint(1930, 2026)
        return [
            (
                rng.choice(
                    [
                        f"{day} {rng.choice(MONTHS)} {year}",
                        f"{rng.choice(MONTHS)} {day}, {year}",
                        f"{day:02}/{rng.randint(1, 12):02}/{year}",
                        f"{year}-{rng.randint(1, 12):02}-{day:02}",
                    ]
                ),
                None,
            )
        ]

    def gr(self):
        word = self.rng.choice(GREETINGS)
        return [(word.capitalize() if self.rng.random() < 0.85 else word, None)]

    def gn(self):
        """A German noun: of the list, of two (Mietvertrag), or with an ending that makes nouns."""
        rng, r = self.rng, self.rng.random()
        word = rng.choice(languages.GERMAN_NOUNS)
        if r < 0.25:
            word += rng.choice(["", "", "s", "n"]) + rng.choice(languages.GERMAN_NOUNS).lower()
        elif r < 0.4:
            word = word[:5] + rng.choice(
                [
                    "ung",
                    "ungen",
                    "heit",
                    "keit",
                    "schaft",
                    "tion",
                    "tionen",
                    "tät",
                    "ismus",
                    "er",
                    "erin",
                    "chen",
                    "nis",
                ]
            )
        return [(word, None)]

    def k(self):
        return [
            (str(self.rng.choice([self.rng.randint(2, 99), self.rng.randint(1900, 2026)])), None)
        ]

    def m(self):
        return [(self.rng.choice(MONTHS), None)]

    def day(self):
        return [(self.rng.choice(DAYS), None)]

"""Made-up private values of every type that a place may be forbidden to see, drawn from a seed.

A value is a candidate of the type's shape, drawn until the program itself (`tandem scan --jsonl`)
finds that type in its sentence: so the check digits are right without being written down here a
second time. What is planted is what a detector finds; that a detector finds what it should is
tested elsewhere."""

import json
import random
import re

import privacy_ways
from tandem import run

# shape: d a digit, l a capital, n either, h a hex digit, Y M D a date's two digits each, anything
# else itself.
SHAPES = [
    ("CREDIT_CARD", "card", "4ddd dddd dddd dddd"),
    ("CREDIT_CARD", "card", "5ddddddddddddddd"),
    ("US_SSN", "social security number", "2dd-dd-dddd"),
    ("US_ITIN", "ITIN", "9dd-7d-dddd"),
    ("UK_NHS", "NHS number", "ddd ddd dddd"),
    ("UK_NINO", "NINO", "AB dd dd dd C"),
    ("DE_TAX_ID", "Steuer-ID", "dd ddd ddd ddd"),
    ("FR_NIR", "NIR", "1YM75dddddddd"),
    ("ES_NIF", "NIF", "dddddddd-l"),
    ("ES_NIE", "NIE", "Xdddddddl"),
    ("IT_FISCAL_CODE", "codice fiscale", "llllllYLDldddl"),
    ("NL_BSN", "BSN", "ddddddddd"),
    ("PL_PESEL", "PESEL", "YMDddddd"),
    ("SE_PERSONNUMMER", "personnummer", "YMD-dddd"),
    ("FI_PERSONAL_IDENTITY_CODE", "hetu", "DMY-dddn"),
    ("DK_CPR", "CPR", "DMY-dddd"),
    ("NO_FODSELSNUMMER", "fødselsnummer", "DMYddddd"),
    ("BE_NATIONAL_NUMBER", "national number", "Y.M.D-ddd.dd"),
    ("PT_NIF", "NIF contribuinte", "2dddddddd"),
    ("CH_AHV", "AHV", "756.dddd.dddd.dd"),
    ("AT_SVNR", "SVNR", "dddd DMY"),
    ("IE_PPS", "PPS", "dddddddl"),
    ("CZ_BIRTH_NUMBER", "rodné číslo", "YMD/dddd"),
    ("RO_CNP", "CNP", "1YMDdddddd"),
    ("BG_EGN", "EGN", "YMDdddd"),
    ("HR_OIB", "OIB", "ddddddddddd"),
    ("EE_ISIKUKOOD", "isikukood", "3YMDdddd"),
    ("GR_AMKA", "AMKA", "DMYddddd"),
    ("TR_NATIONAL_ID", "TC kimlik", "ddddddddddd"),
    ("BR_CPF", "CPF", "ddd.ddd.ddd-dd"),
    ("BR_CNPJ", "CNPJ", "dd.ddd.ddd/0001-dd"),
    ("MX_CURP", "CURP", "BAXXYMDHJCRRS0d"),
    ("CL_RUT", "RUT", "dd.ddd.ddd-n"),
    ("AR_CUIT", "CUIT", "20-dddddddd-d"),
    ("IN_AADHAAR", "Aadhaar", "dddd dddd dddd"),
    ("IN_PAN", "PAN", "lllPlddddl"),
    ("AU_TFN", "TFN", "ddd ddd ddd"),
    ("AU_MEDICARE", "Medicare", "dddd ddddd d"),
    ("AU_ABN", "ABN", "dd ddd ddd ddd"),
    ("CA_SIN", "SIN", "ddd-ddd-ddd"),
    ("SG_NRIC_FIN", "NRIC", "Sdddddddl"),
    ("KR_RRN", "RRN", "YMD-1dddddd"),
    ("CN_ID", "resident identity", "11010519YMDdddn"),
    ("TW_ID", "Taiwan ID", "A1dddddddd"),
    ("HK_ID", "HKID", "Adddddd(n)"),
    ("JP_MY_NUMBER", "My Number", "dddd dddd dddd"),
    ("TH_TNIN", "Thai ID", "1-dddd-ddddd-dd-d"),
    ("ZA_ID", "RSA ID", "YMDdddd08d"),
    ("IL_ID", "teudat zehut", "ddddddddd"),
    ("RU_SNILS", "СНИЛС", "ddd-ddd-ddd dd"),
    ("RU_INN", "ИНН", "dddddddddd"),
    ("DE_HEALTH_INSURANCE", "Krankenversichertennummer", "Addddddddd"),
    ("MX_CLABE", "CLABE", "dddddddddddddddddd"),
    ("IMEI", "IMEI", "35ddddddddddddd"),
    ("VIN", "VIN", "WVWZZZ1KZ8Wdddddd"),
    ("PIN", "PIN", "dddd"),
    ("CARD_VERIFICATION", "CVV", "ddd"),
    ("US_MBI", "MBI", "1EG4-TE5-KKdd"),
    ("US_NPI", "NPI", "1ddddddddd"),
    ("MEDICAL_LICENSE", "DEA", "BBddddddd"),
    ("IP_ADDRESS", "server", "84.dd.1dd.dd"),
    ("MAC_ADDRESS", "MAC", "hh:hh:hh:hh:hh:hh"),
    ("PHONE_NUMBER", "phone", "+49 30 dddddddd"),
    ("PHONE_NUMBER", "phone", "(212) 555-dddd"),
    ("US_PASSPORT", "US passport number", "ddddddddd"),
    ("PASSPORT", "passport number", "Cddddddddd"),
    ("US_DRIVER_LICENSE", "driver's license", "Cddddddd"),
    ("MEDICAL_RECORD_NUMBER", "medical record number", "ddddddd"),
    ("US_BANK_NUMBER", "bank account number", "dddddddddd"),
    ("LICENSE_PLATE", "license plate", "B-XY dddd"),
    ("COORDINATES", "location", "52.5ddddd, 13.4ddddd"),
    ("EMAIL_ADDRESS", "mail", None),
    ("IBAN_CODE", "IBAN", None),
    ("API_KEY", "API key", None),
    ("PRIVATE_KEY", "key", None),
    ("CRYPTO", "wallet", None),
    ("STREET_ADDRESS", "address", None),
    ("MEDICATION", "prescription", None),
    ("ICD10_CODE", "diagnosis", None),
]
THINGS = (
    "bread butter rain snow wind grass stone water fire milk sugar salt paper glass wood sand"
    " clouds rivers trees leaves birds horses chairs tables windows doors shoes spoons apples"
    " onions candles blankets"
).split()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TRIES = {
    "IN_AADHAAR": 60,
    "MX_CURP": 200,
    "IT_FISCAL_CODE": 600,
    "FR_NIR": 400,
    "HR_OIB": 120,
    "TR_NATIONAL_ID": 400,
    "BR_CPF": 400,
    "BR_CNPJ": 400,
    "AU_ABN": 400,
    "NO_FODSELSNUMMER": 500,
    "DE_TAX_ID": 900,
    "BE_NATIONAL_NUMBER": 400,
    "CN_ID": 120,
    "RU_SNILS": 400,
}


def fill(rng: random.Random, shape: str) -> str:
    draw = {
        "d": lambda: rng.choice("0123456789"),
        "l": lambda: rng.choice(LETTERS),
        "L": lambda: rng.choice("ABCDEHLMPRST"),
        "n": lambda: rng.choice("0123456789KXAB"),
        "h": lambda: rng.choice("0123456789abcdef"),
        "Y": lambda: f"{rng.randint(50, 99):02d}",
        "M": lambda: f"{rng.randint(1, 12):02d}",
        "D": lambda: f"{rng.randint(1, 28):02d}",
    }
    return "".join(draw.get(c, lambda c=c: c)() for c in shape)


def some(rng: random.Random, letters: str, count: int) -> str:
    return "".join(rng.choice(letters) for _ in range(count))


def base58_wallet(rng: random.Random) -> str:
    """0x and 40 hex digits: no check digits in lower case."""
    return "0x" + some(rng, "0123456789abcdef", 40)


def special(rng: random.Random, kind: str) -> str:
    alnum = LETTERS + LETTERS.lower() + "0123456789"
    if kind == "EMAIL_ADDRESS":
        first, last, house = (some(rng, LETTERS.lower(), n) for n in (9, 7, 8))
        return f"{first}.{last}@{house}.org"
    if kind == "IBAN_CODE":
        account = some(rng, "0123456789", 18)
        text = f"DE{98 - int(account + '131400') % 97:02d}{account}"
        return rng.choice([text, " ".join(text[i : i + 4] for i in range(0, 22, 4))])
    if kind == "API_KEY":
        return rng.choice(
            [
                lambda: "sk-" + some(rng, alnum, 48),
                lambda: "ghp_" + some(rng, alnum, 36),
                lambda: "AKIA" + some(rng, LETTERS + "234567", 16),
            ]
        )()
    if kind == "PRIVATE_KEY":
        body = some(rng, alnum + "+/", 120)
        return (
            f"-----BEGIN RSA PRIVATE KEY-----\n{body[:60]}\n{body[60:]}\n-----END RSA PRIVATE"
            " KEY-----"
        )
    if kind == "CRYPTO":
        return base58_wallet(rng)
    if kind == "STREET_ADDRESS":
        return (
            f"{rng.randint(100, 9999)} {some(rng, LETTERS, 1)}{some(rng, LETTERS.lower(), 8)}"
            " Street"
        )
    if kind == "MEDICATION":
        return f"{rng.choice(['metformin', 'sertraline', 'lisinopril'])} {rng.randint(11, 997)} mg"
    return f"{rng.choice('EFGIJ')}{rng.randint(10, 59)}.{rng.randint(0, 9)}"  # ICD10_CODE


class Canary:
    """written: how the value stands in the sentence, where that is not as it is."""

    def __init__(
        self, kind: str, data_class: str, sentence: str, value: str, written: str = ""
    ) -> None:
        self.kind, self.data_class, self.sentence, self.value = kind, data_class, sentence, value
        self.written = written

    def __repr__(self) -> str:
        return f"{self.kind} {self.value!r} ({self.data_class})"

    def is_in(self, raw: bytes, squeezed: bytes) -> bool:
        """raw: bytes on the wire; squeezed: the same less all but letters and digits, lower case.
        Short values are looked for as they stand, in their sentence, because others, and others'
        surrogates, may hold the same digits; its last words are no other sentence's."""
        if self.written and any(
            form.encode() in raw
            for form in (
                self.written,
                *(json.dumps(self.written, ensure_ascii=a)[1:-1] for a in (False, True)),
            )
        ):
            return True
        short = squeeze(self.value.encode())
        if len(short) < 9:
            return squeeze(self.sentence.encode()) in squeezed
        if self.kind == "PRIVATE_KEY":
            return squeeze(self.value.split("\n")[1].encode()) in squeezed
        return short in squeezed or self.value.encode() in raw


def squeeze(data: bytes) -> bytes:
    return re.sub(rb"[^a-z0-9]", b"", data.lower().replace(b"\\n", b"").replace(b"\\u", b""))


HIDDEN = ("CREDIT_CARD", "US_SSN", "IBAN_CODE", "EMAIL_ADDRESS", "API_KEY")


def disguise(rng: random.Random, canaries: list[Canary], count: int) -> list[Canary]:
    """`count` of these in unusual forms, which all are kept."""
    usable = [c for c in canaries if c.kind in HIDDEN and privacy_ways.is_whole(c.kind, c.value)]
    made = []
    for _ in range(count if usable else 0):
        canary = rng.choice(usable)
        form = rng.choice(privacy_ways.forms_of(canary.kind, canary.value))
        text = canary.sentence.replace(canary.value, form)
        made.append(Canary(canary.kind, canary.data_class, text, canary.value, form))
    lines = "\n".join(json.dumps({"text": canary.sentence}) for canary in made)
    code, out, err = run("scan", "--jsonl", stdin=lines.encode(), timeout=300)
    assert code == 0, err
    for canary, line in zip(made, out.decode().splitlines()):
        canary.data_class = json.loads(line)["class"]
        assert canary.data_class != "public", f"not kept: {canary.sentence!r}"
    return made


def make(count: int, seed: int) -> tuple[list[Canary], set[str]]:
    """`count` canaries, the types in turn and one in five in an unusual form, and the set of types
    of which none was found."""
    rng = random.Random(seed)
    rounds = max(
        4, min(8, (count + len(SHAPES) - 1) // len(SHAPES))
    )  # more conversations plant some again
    candidates = []
    for kind, label, shape in SHAPES:
        for _ in range(rounds * TRIES.get(kind, 30)):
            value = fill(rng, shape) if shape else special(rng, kind)
            likeness = " and ".join(rng.choice(THINGS) for _ in range(3))
            candidates.append(
                (kind, value, f"My {label} is {value} and that is so, like {likeness}.")
            )
    lines = "\n".join(json.dumps({"text": text}) for _, _, text in candidates)
    code, out, err = run("scan", "--jsonl", stdin=lines.encode(), timeout=300)
    assert code == 0, err
    found: dict[str, list[Canary]] = {}
    for (kind, value, text), line in zip(candidates, out.decode().splitlines(), strict=True):
        result = json.loads(line)
        if result["class"] in ("sensitive", "restricted") and any(
            span["type"] == kind for span in result["spans"]
        ):
            found.setdefault(kind, []).append(Canary(kind, result["class"], text, value))
    names = list(dict.fromkeys(kind for kind, _, _ in SHAPES))
    missing = {name for name in names if name not in found}
    made = []
    for i in range(count):
        of_kind = found.get(names[i % len(names)])
        if of_kind:
            made.append(of_kind[i // len(names) % len(of_kind)])
    hidden = disguise(rng, [c for of_kind in found.values() for c in of_kind], count // 5)
    for i, canary in enumerate(hidden):
        made[5 * i + 4 : 5 * i + 5] = [canary]
    return made, missing

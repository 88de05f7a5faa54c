"""Ways of writing private values that hide them from a search for their usual form, and texts that
look like them and hold nothing.

WAYS has 142 ways of writing a card number; OTHERS has 200 more ways of writing cards, social
security numbers, accounts, keys, passwords, addresses and telephone numbers. A row is (name, text,
why it may be missed): a text is kept when its class is not public. The reason is None where the
program promises to keep it; the others are out of reach, and docs/privacy.md says so. CLEAN has
texts that look like some of these ways and hold nothing."""

import base64
import zlib
from collections.abc import Callable

CARD = "4111111111111111"
SSN = "536904399"
IBAN = "DE89370400440532013000"
MAIL = "nina.kowalczyk@acme-corp.com"
KEY = "sk-proj-9fQ2mXv7Lr4TzK1bYc8WdN3s"
REVERSED = "the order of the characters is another"
SECRET = "only who knows the key or the method can read it"
PACKED = "compressed, or in an encoding that is not looked into"
SPOKEN = "told in words"
LETTERS = "letters that look like digits are letters"


def spread(joint: str, sizes: tuple[int, ...] = (4, 4, 4, 4), value: str = CARD) -> str:
    """The value's characters in groups of these sizes."""
    out, at = [], 0
    for size in sizes:
        out.append(value[at : at + size])
        at += size
    return joint.join(out)


def each(joint: str, value: str = CARD) -> str:
    return joint.join(value)


def digits(form: Callable[[int], str], value: str = CARD) -> str:
    return "".join(form(int(c)) if c.isdigit() else c for c in value)


def from_zero(zero: int) -> Callable[[int], str]:
    return lambda digit: chr(zero + digit)


def from_list(forms: str) -> Callable[[int], str]:
    return lambda digit: forms[digit]


def codes(form: str, joint: str = "", value: str = CARD) -> str:
    """Each character's code in a form of str.format."""
    return joint.join(form.format(ord(c)) for c in value)


def in_base64(value: str, width: int = 0, encoding: str = "utf-8") -> str:
    text = base64.b64encode(value.encode(encoding)).decode()
    return "\n".join(text[i : i + width] for i in range(0, len(text), width)) if width else text


def in_base32(value: str) -> str:
    return base64.b32encode(value.encode()).decode()


def tags(value: str) -> str:
    return "".join(chr(0xE0000 + ord(c)) for c in value)


CJK = "〇一二三四五六七八九"
FORMAL = "零壹贰叁肆伍陆柒捌玖"
SENTENCE = f"The customer paid with {CARD} yesterday."

# (name, what stands in the sentence, why it may be missed)
_WAYS: list[tuple[str, str, str | None]] = [
    ("as it is", CARD, None),
    # separators between groups of four
    ("blanks", spread(" "), None),
    ("dashes", spread("-"), None),
    ("dots", spread("."), None),
    ("tabs", spread("\t"), None),
    ("two blanks", spread("  "), None),
    ("blanks around dashes", spread(" - "), None),
    ("slashes", spread("/"), None),
    ("slashes with blanks", spread(" / "), None),
    ("backslashes", spread("\\"), None),
    ("bars", spread("|"), None),
    ("bars with blanks", spread(" | "), None),
    ("a row of a table", "| " + spread(" | ") + " |", None),
    ("underscores", spread("_"), None),
    ("commas", spread(","), None),
    ("commas and blanks", spread(", "), None),
    ("semicolons", spread(";"), None),
    ("colons", spread(":"), None),
    ("plus signs", spread("+"), None),
    ("plus signs with blanks", spread(" + "), None),
    ("tildes", spread("~"), None),
    ("equals signs", spread("="), None),
    ("number signs", spread("#"), None),
    ("asterisks", spread("*"), None),
    ("bold marks between", spread("**"), None),
    ("each group bold", "**" + spread("** **") + "**", None),
    ("backticks between", spread("`"), None),
    ("each group as code", "`" + spread("` `") + "`", None),
    ("quotes", '"' + spread('" "') + '"', None),
    ("concatenated", '"' + spread('" + "') + '"', None),
    ("apostrophes", spread("'"), None),
    ("round brackets", "(" + spread(") (") + ")", None),
    ("square brackets", "[" + spread("][") + "]", None),
    ("braces", "{" + spread("}{") + "}", None),
    ("angle brackets", "<" + spread("><") + ">", None),
    ("<br>", spread("<br>"), None),
    ("<br/>", spread("<br />"), None),
    ("each group in <b>", "<b>" + spread("</b><b>") + "</b>", None),
    ("cells of HTML", "<td>" + spread("</td><td>") + "</td>", None),
    ("bullets", spread("•"), None),
    ("middle dots", spread("·"), None),
    ("long dashes", spread("—"), None),
    ("ellipses", spread("…"), None),
    ("three dots", spread("..."), None),
    ("arrows", spread(" → "), None),
    ("line ends", spread("\n"), None),
    ("line ends of Windows", spread("\r\n"), None),
    ("one line end", "4111 1111\n1111 1111", None),
    ("a quoted mail", spread("\n> "), None),
    ("list items", "- " + spread("\n- "), None),
    ("no-break spaces", spread("\u00a0"), None),
    ("ideographic spaces", spread("\u3000"), None),
    ("emoji", spread("🙂"), None),
    ("other separators each time", "4111 1111-1111.1111", None),
    ("signs of all kinds", "4111/1111 1111|1111", None),
    # each digit alone
    ("each digit, blanks", each(" "), None),
    ("each digit, dashes", each("-"), None),
    ("each digit, dots", each("."), None),
    ("each digit, commas", each(","), None),
    ("each digit, commas and blanks", each(", "), None),
    ("each digit, underscores", each("_"), None),
    ("each digit, bars", each("|"), None),
    ("each digit, slashes", each("/"), None),
    ("each digit, tabs", each("\t"), None),
    ("each digit on a line", each("\n"), None),
    ("pairs", spread(" ", (2,) * 8), None),
    ("thousands", "4,111,111,111,111,111", None),
    ("halves", spread("/", (8, 8)), None),
    # lists
    ("a list of JSON", "[" + spread(", ") + "]", None),
    ("a list of strings", '["' + spread('", "') + '"]', None),
    ("a list of digits", "[" + each(",") + "]", None),
    ("a list of strings of digits", '["' + each('","') + '"]', None),
    # invisible characters
    ("zero-width spaces", each("\u200b"), None),
    ("zero-width joiners", spread("\u200d"), None),
    ("word joiners", each("\u2060"), None),
    ("soft hyphens", spread("\u00ad"), None),
    ("byte order marks", spread("\ufeff"), None),
    ("direction marks", each("\u200e"), None),
    ("variation selectors", each("\ufe0f"), None),
    ("combining accents", each("\u0301"), None),
    ("&shy;", spread("&shy;"), None),
    ("<wbr>", spread("<wbr>"), None),
    # forms of digits
    ("full width", digits(from_zero(0xFF10)), None),
    ("Arabic-Indic", digits(from_zero(0x660)), None),
    ("Persian", digits(from_zero(0x6F0)), None),
    ("Devanagari", digits(from_zero(0x966)), None),
    ("Bengali", digits(from_zero(0x9E6)), None),
    ("Tamil", digits(from_zero(0xBE6)), None),
    ("Thai", digits(from_zero(0xE50)), None),
    ("Khmer", digits(from_zero(0x17E0)), None),
    ("mathematical bold", digits(from_zero(0x1D7CE)), None),
    ("double-struck", digits(from_zero(0x1D7D8)), None),
    ("monospace", digits(from_zero(0x1D7F6)), None),
    ("segments", digits(from_zero(0x1FBF0)), None),
    ("circled", digits(from_list("⓪①②③④⑤⑥⑦⑧⑨")), None),
    ("circled negative", digits(from_list("⓿❶❷❸❹❺❻❼❽❾")), None),
    ("in brackets", digits(from_list("0⑴⑵⑶⑷⑸⑹⑺⑻⑼")), None),
    ("superscript", digits(from_list("⁰¹²³⁴⁵⁶⁷⁸⁹")), None),
    ("subscript", digits(from_zero(0x2080)), None),
    ("keycaps", each("\ufe0f\u20e3") + "\ufe0f\u20e3", None),
    ("tag characters", tags(CARD), None),
    ("Chinese", digits(from_list(CJK)), None),
    ("Chinese in groups", digits(from_list(CJK), spread(" ")), None),
    ("Chinese of cheques", digits(from_list(FORMAL)), None),
    ("circled in groups", digits(from_list("⓪①②③④⑤⑥⑦⑧⑨"), spread(" ")), None),
    ("the letter l for 1", "4lll llll llll llll", LETTERS),
    # glued to letters
    ("after a word", "Visa" + CARD, None),
    ("before a word", CARD + "exp", None),
    ("within words", "pay" + CARD + "now", None),
    ("in a name of a tool", "charge_card_" + CARD, None),
    ("in camel case", "chargeCard" + CARD + "Now", None),
    ("a key of JSON", f'{{"{CARD}": "paid"}}', None),
    ("a name of a file", f"/tmp/{CARD}.pdf", None),
    ("in a URL", f"https://shop.example/pay?c={CARD}&x=1", None),
    ("a number with .0", CARD + ".0", None),
    ("a number with .00", CARD + ".00", None),
    ("in floating point", "4.111111111111111e15", None),
    ("a long integer of a program", CARD + "L", None),
    # encodings
    ("base64", in_base64(CARD), None),
    ("base64 of a sentence", in_base64(SENTENCE), None),
    ("base64 across line ends", in_base64(SENTENCE, 20), None),
    ("base64 in base64", in_base64(in_base64(SENTENCE)), None),
    ("base64 of UTF-16", in_base64(SENTENCE, encoding="utf-16-le"), None),
    ("base64 of UTF-16, high bytes first", in_base64(SENTENCE, encoding="utf-16-be"), None),
    ("base64 of a long UTF-16", in_base64("Größe ü. " * 700 + SENTENCE, encoding="utf-16"), None),
    ("base64 of UTF-16 with a mark", in_base64("\ufeff" + SENTENCE, encoding="utf-16-be"), None),
    ("hex of UTF-16, high bytes first", CARD.encode("utf-16-be").hex(), None),
    ("hex of UTF-16", f"Kärte {CARD}".encode("utf-16-le").hex(), None),
    ("base32", in_base32(CARD), None),
    ("hex", codes("{:02x}"), None),
    ("hex with blanks", codes("{:02x}", " "), None),
    ("\\x34", codes("\\x{:02x}"), None),
    ("\\u0034", codes("\\u{:04x}"), None),
    ("\\u{34}", codes("\\u{{{:x}}}"), None),
    ("octal", codes("\\{:03o}"), None),
    ("quoted-printable", codes("={:02X}"), None),
    ("percent", codes("%{:02X}"), None),
    ("percent twice", codes("%25{:02X}"), None),
    ("references of HTML", codes("&#{};"), None),
    ("references of HTML in hex", codes("&#x{:x};"), None),
    ("references of HTML without their ends", codes("&#{}"), None),
    ("references of HTML in hex without their ends", codes("&#X{:04X}"), None),
]
WAYS = [(name, f"Please look at {text} today.", why) for name, text, why in _WAYS]


def grouped(joint: str) -> str:
    return spread(joint, (3, 2, 4), SSN)


def account(joint: str) -> str:
    return spread(joint, (4, 4, 4, 4, 4, 2), IBAN)


AMEX = "378282246310005"
PHONE = "+49 30 1234567"
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
AWS = "AKIAIOSFODNN7EXAMPLE"
ETHEREUM = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
SEED = "legal winner thank year wave sausage worth useful legal winner thank yellow"
LONG_SEED = (
    "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor"
    " acoustic avoid letter advice cage absurd amount doctor acoustic bless"
)
JWK_D = "X4cTteJY_gn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoVH-HLLKD9M7dx5oo7GURknchnrRweUkC7hT5f"
COOKIE = "s6Fh2kLq9XzP4vTbNw81"
CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨"
SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹"
DIGIT_WORDS = "zero one two three four five six seven eight nine".split()

# (name, text, why it may be missed)
OTHERS: list[tuple[str, str, str | None]] = [
    # social security numbers, announced
    *(
        (f"SSN, {name}", f"The SSN is {text} as far as I know.", None)
        for name, text in [
            ("as it is", grouped("-")),
            ("bare", SSN),
            ("blanks", grouped(" ")),
            ("slashes", grouped("/")),
            ("bars", grouped("|")),
            ("bars with blanks", grouped(" | ")),
            ("underscores", grouped("_")),
            ("tabs", grouped("\t")),
            ("commas", grouped(", ")),
            ("bold marks between", grouped("**")),
            ("each group bold", "**" + grouped("** **") + "**"),
            ("each group as code", "`" + grouped("` `") + "`"),
            ("<br>", grouped("<br>")),
            ("a list of JSON", "[" + grouped(", ") + "]"),
            ("a list of strings", '["' + grouped('", "') + '"]'),
            ("each digit, blanks", each(" ", SSN)),
            ("each digit, commas", each(",", SSN)),
            ("each digit, underscores", each("_", SSN)),
            ("line ends", grouped("\n")),
            ("bullets", grouped("•")),
            ("zero-width spaces", each("\u200b", SSN)),
            ("full width", digits(from_zero(0xFF10), SSN)),
            ("Arabic-Indic", digits(from_zero(0x660), SSN)),
            ("Thai", digits(from_zero(0xE50), SSN)),
            ("circled", digits(from_list(CIRCLED), SSN)),
            ("superscript", digits(from_list(SUPER), SSN)),
            ("subscript", digits(from_zero(0x2080), SSN)),
            ("keycaps", each("\ufe0f\u20e3", SSN) + "\ufe0f\u20e3"),
            ("tag characters", tags(SSN)),
            ("Chinese", digits(from_list(CJK), SSN)),
            ("base64", in_base64(grouped("-"))),
            ("base32", in_base32(grouped("-"))),
            ("hex", codes("{:02x}", "", grouped("-"))),
            ("hex with blanks", codes("{:02x}", " ", grouped("-"))),
            ("decimal codes", codes("{}", ", ", grouped("-"))),
            ("binary codes", codes("{:08b}", " ", grouped("-"))),
            ("\\x34", codes("\\x{:02x}", "", grouped("-"))),
            ("\\u{34}", codes("\\u{{{:x}}}", "", grouped("-"))),
            ("octal", codes("\\{:03o}", "", grouped("-"))),
            ("quoted-printable", codes("={:02X}", "", grouped("-"))),
            ("references of HTML", codes("&#{};", "", grouped("-"))),
            ("percent", codes("%{:02X}", "", grouped("-"))),
        ]
    ),
    # social security numbers, glued
    ("SSN in a word", f"Look up SSN{SSN} please.", None),
    ("SSN in a word, small", f"Look up ssn{SSN} please.", None),
    ("SSN in a name of a tool", f"Call lookup_SSN{SSN} now.", None),
    ("SSN in camel case", f"Call customerSsn{SSN}Lookup now.", None),
    ("SSN as a key of JSON", f'{{"ssn_{SSN}": true}}', None),
    ("SSN in a URL", f"https://hr.example/p?ssn={SSN}", None),
    ("SSN in a path", f"/data/ssn/{SSN}/scan.pdf", None),
    ("SSN as an assignment", f"ssn={SSN};", None),
    # account numbers
    *(
        (f"IBAN, {name}", f"Transfer it to {text} tomorrow.", None)
        for name, text in [
            ("as it is", IBAN),
            ("blanks", account(" ")),
            ("dashes", account("-")),
            ("dots", account(".")),
            ("tabs", account("\t")),
            ("slashes", account("/")),
            ("bars", account("|")),
            ("bars with blanks", account(" | ")),
            ("underscores", account("_")),
            ("commas", account(", ")),
            ("bold marks between", account("**")),
            ("each group as code", "`" + account("` `") + "`"),
            ("<br>", account("<br>")),
            ("a list of strings", '["' + account('", "') + '"]'),
            ("line ends", account("\n")),
            ("each character, blanks", each(" ", IBAN)),
            ("zero-width spaces", each("\u200b", IBAN)),
            ("full width", "".join(chr(ord(c) + 0xFEE0) for c in IBAN)),
            ("circled digits", digits(from_list(CIRCLED), IBAN)),
            ("superscript digits", digits(from_list(SUPER), IBAN)),
            ("Thai digits", digits(from_zero(0xE50), IBAN)),
            ("tag characters", tags(IBAN)),
            ("small letters", IBAN.lower()),
            ("base64", in_base64(IBAN)),
            ("base64 across line ends", in_base64(f"Pay to {IBAN} soon.", 20)),
            ("base32", in_base32(IBAN)),
            ("hex", codes("{:02x}", "", IBAN)),
            ("\\x34", codes("\\x{:02x}", "", IBAN)),
            ("quoted-printable", codes("={:02X}", "", IBAN)),
            ("references of HTML", codes("&#{};", "", IBAN)),
        ]
    ),
    (
        "IBAN, base64, a short word behind it",
        "My IBAN is REUzMyA5MzMyIDEzNTggOTczMCA4Njg2IDYy and that is so.",
        None,
    ),
    ("IBAN in a word", f"Transfer it to IBAN{IBAN} tomorrow.", None),
    ("IBAN in a name of a tool", f"Call pay_{IBAN}_now please.", None),
    ("IBAN as a key of JSON", f'{{"{IBAN}": 12.5}}', None),
    # more cards
    ("Amex, bars", f"It was {spread('|', (4, 6, 5), AMEX)} then.", None),
    ("Amex, slashes", f"It was {spread('/', (4, 6, 5), AMEX)} then.", None),
    ("Amex, a list", f"It was [{spread(', ', (4, 6, 5), AMEX)}] then.", None),
    ("Amex, glued", f"It was Amex{AMEX} then.", None),
    ("Amex, circled", f"It was {digits(from_list(CIRCLED), AMEX)} then.", None),
    ("Amex, base64", f"It was {in_base64('amex ' + AMEX)} then.", None),
    ("card, pairs with slashes, announced", f"My card: {spread('/', (2,) * 8)}.", None),
    ("card, threes with bars, announced", f"My card: {spread('|', (3, 3, 3, 3, 4))}.", None),
    ("card with date and code, bars", f"{CARD}|12|27|737", None),
    ("card in groups with its date", f"card {spread(' | ')} | 12 | 27", None),
    ("card, groups in bold HTML", f"<p><b>{spread('</b> <b>')}</b></p>", None),
    ("card, each digit in <i>", f"<i>{each('</i><i>')}</i>", None),
    ("card, LaTeX", f"It was {spread(chr(92) + ',')} then.", None),
    ("card, a string of C", '"' + codes("\\x{:02x}") + '"', None),
    ("card, a string of JavaScript in JSON", '{"a": "' + codes("\\\\x{:02x}") + '"}', None),
    ("card, base64 in a URL", f"https://x.example/?q={in_base64('card ' + CARD)}", None),
    ("card, quoted-printable with soft ends", codes("={:02X}", "=\n"), None),
    ("card, decimal codes", codes("{}", " "), None),
    ("card, hex with 0x", codes("0x{:02x}", ", "), None),
    ("card, binary codes", codes("{:08b}", " "), None),
    ("card, octal codes", codes("{:03o}", " "), None),
    # mail addresses
    *(
        (f"mail, {name}", f"Please write to {text} today.", None)
        for name, text in [
            ("as it is", MAIL),
            ("at and dot", "nina.kowalczyk at acme-corp dot com"),
            ("[at] and [dot]", "nina.kowalczyk [at] acme-corp [dot] com"),
            ("(at) and (dot)", "nina.kowalczyk(at)acme-corp(dot)com"),
            ("[.] and [@]", "nina.kowalczyk[@]acme-corp[.]com"),
            ("full width", "".join(chr(ord(c) + 0xFEE0) for c in MAIL)),
            ("zero-width spaces", each("\u200b", MAIL)),
            ("soft hyphens", each("\u00ad", MAIL)),
            ("tag characters", tags(MAIL)),
            ("Cyrillic letters", MAIL.replace("o", "о").replace("a", "а")),
            (
                "mathematical letters",
                "".join(chr(0x1D41A + ord(c) - 97) if c.islower() else c for c in MAIL),
            ),
            (
                "circled letters",
                "".join(chr(0x24D0 + ord(c) - 97) if c.islower() else c for c in MAIL),
            ),
            ("base64", in_base64(MAIL)),
            ("base64 across line ends", in_base64(f"write to {MAIL} today", 20)),
            ("base32", in_base32(MAIL)),
            ("hex", codes("{:02x}", "", MAIL)),
            ("hex with colons", codes("{:02x}", ":", MAIL)),
            ("\\x34", codes("\\x{:02x}", "", MAIL)),
            ("\\u{34}", codes("\\u{{{:x}}}", "", MAIL)),
            ("octal", codes("\\{:03o}", "", MAIL)),
            ("quoted-printable", codes("={:02X}", "", MAIL)),
            ("an @ in quoted-printable", MAIL.replace("@", "=40").replace(".", "=2E")),
            ("percent", codes("%{:02X}", "", MAIL)),
            ("references of HTML", codes("&#{};", "", MAIL)),
            ("decimal codes", codes("{}", ",", MAIL)),
        ]
    ),
    # telephone numbers
    *(
        (f"telephone, {name}", f"Call me at {text} tonight.", None)
        for name, text in [
            ("as it is", PHONE),
            ("dots", "+49.30.1234567"),
            ("slashes", "+49/30/1234567"),
            ("full width", "".join(chr(ord(c) + 0xFEE0) if c != " " else c for c in PHONE)),
            ("zero-width spaces", each("\u200b", PHONE)),
            ("Arabic-Indic", digits(from_zero(0x660), PHONE)),
            ("circled", digits(from_list(CIRCLED), PHONE)),
            ("superscript", digits(from_list(SUPER), PHONE)),
            ("base64", in_base64(PHONE)),
            ("hex", codes("{:02x}", "", PHONE)),
            ("\\x34", codes("\\x{:02x}", "", PHONE)),
            ("percent", codes("%{:02X}", "", PHONE)),
            ("quoted-printable", codes("={:02X}", "", PHONE)),
            ("references of HTML", codes("&#{};", "", PHONE)),
        ]
    ),
    # keys
    *(
        (f"key, {name}", f"Here: {text} and done.", None)
        for name, text in [
            ("as it is", KEY),
            ("a blank within", KEY[:16] + " " + KEY[16:]),
            ("a line end within", KEY[:16] + "\n" + KEY[16:]),
            ("a quoted line end within", KEY[:16] + "\n> " + KEY[16:]),
            ("a blank near its beginning", KEY[:12] + " " + KEY[12:]),
            ("zero-width spaces", each("\u200b", KEY)),
            ("base64", in_base64(KEY)),
            ("base64 across line ends", in_base64("api " + KEY, 20)),
            ("hex", codes("{:02x}", "", KEY)),
            ("base32", in_base32(KEY)),
            ("\\x34", codes("\\x{:02x}", "", KEY)),
            ("percent", codes("%{:02X}", "", KEY)),
            ("references of HTML", codes("&#{};", "", KEY)),
            ("of GitHub, a line end within", TOKEN[:20] + "\n" + TOKEN[20:]),
            ("of GitHub, a blank within", TOKEN[:20] + " " + TOKEN[20:]),
            ("of AWS, a blank within", AWS[:12] + " " + AWS[12:]),
            ("of AWS, a line end within", AWS[:12] + "\n" + AWS[12:]),
            ("of AWS in a word", "x_" + AWS),
        ]
    ),
    # passwords and other secrets
    ("password with its own name", "password: Password1!", None),
    ("password of the environment", "DB_PASSWORD=hunter2Secret9", None),
    ("password that says secret", "export ADMIN_PASSWORD=TopSecret2024", None),
    ("password of YAML", "  password: mySecret99x", None),
    ("password in quotes", 'password = "Secret123"', None),
    ("password of JSON", '{"password": "Token2024!"}', None),
    ("password in words", "The password is Password1!", None),
    ("Ethereum key, announced", f"My Ethereum private key is 0x{ETHEREUM}.", None),
    ("Ethereum key, bare", f"private key: {ETHEREUM}", None),
    ("Ethereum key of the environment", f"PRIVATE_KEY={ETHEREUM}", None),
    ("Ethereum key of JSON", f'{{"privateKey": "0x{ETHEREUM}"}}', None),
    ("Ethereum key of a wallet", f"wallet secret 0x{ETHEREUM}", None),
    ("seed words", f"My words are: {SEED}", None),
    ("seed words, announced", f"seed phrase: {SEED}.", None),
    ("seed words in capitals", SEED.upper(), None),
    ("seed words on lines", SEED.replace(" ", "\n"), None),
    (
        "seed words, numbered",
        "\n".join(f"{i}. {word}" for i, word in enumerate(SEED.split(), 1)),
        None,
    ),
    ("seed words with commas", SEED.replace(" ", ", "), None),
    ("seed words in JSON", str(SEED.split()).replace("'", '"'), None),
    ("seed words, twenty-four", LONG_SEED, None),
    ("cookie of PHP", f"PHPSESSID={COOKIE}", None),
    ("cookie of Java", f"Cookie: JSESSIONID={COOKIE}", None),
    ("cookie of a session", f"Cookie: theme=dark; session={COOKIE}; lang=de", None),
    ("cookie that is set", f"Set-Cookie: sessionid={COOKIE}; HttpOnly", None),
    ("cookie of Express", f"connect.sid=s%3A{COOKIE}.{COOKIE[::-1]}", None),
    (
        "JSON web key",
        f'{{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN","e":"AQAB","d":"{JWK_D}"}}',
        None,
    ),
    ("JSON web key, symmetric", '{"kty": "oct", "k": "GawgguFyGrWKav7AX4VKUg"}', None),
    ("card, thousands with underscores", "total = 4_111_111_111_111_111", None),
    ("card, thousands with apostrophes", "It was 4'111'111'111'111'111 then.", None),
    ("card, a number of JSON", f'{{"paid_with": {CARD}}}', None),
    ("card, a word of Cyrillic before", f"карта {spread('/')} и всё", None),
    ("card, Chinese before it", f"卡号{digits(from_list(CJK))}。", None),
    # out of reach
    ("card, reversed", f"Look at {CARD[:5] + '2345' + CARD[9:]}"[::-1], REVERSED),
    ("SSN, reversed", f"SSN backwards: {SSN[::-1]}9", REVERSED),
    ("card, compressed", in_base64(CARD) and zlib.compress(CARD.encode()).hex(), PACKED),
    ("card, in words", "It was " + " ".join(DIGIT_WORDS[int(c)] for c in CARD), SPOKEN),
    ("card, ROT47", "".join(chr(33 + (ord(c) + 14) % 94) for c in CARD), SECRET),
    ("card, across two sentences", "It begins with 41111111. It ends with 11111111.", SPOKEN),
]

# (name, text): nothing in these is anybody's.
CLEAN: list[tuple[str, str]] = [
    ("arithmetic", "The scroll is 4080 + 4080 / 2 = 4000 + 2040 = 6120 years old."),
    ("a row of four sums", "| 2014 | 2015 | 2016 | 2017 |"),
    ("a longer row", "| 4111 | 1111 | 1111 | 1111 | 5000 | 1200 |"),
    ("a list of numbers", "[4111, 1111, 1111, 1111, 1111, 1111]"),
    ("a table of a parser", "1264,3592, 674, 696,5229, 163,5230,1141,2422,2167, 713,3593"),
    ("eight numbers of two digits", "[41, 11, 11, 11, 11, 11, 11, 11]"),
    ("dates", "seen on 10/19/1993 and 2024-05-01 10:30:15"),
    ("a decimal", "pi = 3.1415926535897932 and 4111111111111111.5"),
    ("a float", "Decimal: 4.85192780976896427E+58"),
    ("constants of C", "#define SIZE 0x0080020001000001ULL\n#define NEXT 0x180000000ULL"),
    ("superscripts", "E = mc², 10⁻⁶ m³, footnote¹²"),
    ("circled numbers", "① open ② read ③ close"),
    ("a Chinese date", "二〇二六年十一月二十三日"),
    ("a flag", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f wins"),
    ("hashes", "commit 4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"),
    ("a transaction", f"wallet tx hash 0x{ETHEREUM}"),
    ("codes of a program", "[72, 101, 108, 108, 111, 44, 32, 119, 111, 114, 108, 100]"),
    ("base64 of a greeting", in_base64("Hello world, how are you today?", 20)),
    ("escapes of a program", r'puts("\x1b[31m\033[0m\u{1F600}\n");'),
    ("assignments", "a=10; b=20; c=ff; url?x=41&y=42"),
    ("a reference", "password = config.password2; login(user=user1, password=password1)"),
    ("a variable", "password=${DB_PASSWORD2} token=os.environ['TOKEN_2']"),
    ("a session in a log", "session=5f2b9c3a7d8e41aa9c3f opened for user 7"),
    ("a cookie of another kind", "Set-Cookie: number=7; Path=/; Max-Age=3600"),
    ("code that makes a key", '{"kty": "oct", "k": base64url_encode(key2).decode()}'),
    ("words of a list", "apple, banana, cherry, melon, orange, potato, rice, tomato, salad, soup"),
    ("words again and again", "one brown cup, one brown ball, one brown envelope, one brown sheet"),
    ("a key that ends", "sk-learn 0x12ab is a library, version1 and version2 of it"),
    ("a mail's header", "=?UTF-8?Q?Hello_world?= and a =20 b"),
    ("long words", "internationalisation1 characterisation22 CVE-2021-22884 RFC9110"),
]


def is_whole(kind: str, value: str) -> bool:
    """Does the value have the right check digit? Of some only a part was found."""
    places = enumerate(reversed([int(c) for c in value if c.isdigit()]))
    doubled = sum(d if i % 2 == 0 else 2 * d - 9 * (d > 4) for i, d in places)
    return kind != "CREDIT_CARD" or doubled % 10 == 0


def forms_of(kind: str, value: str) -> list[str]:
    """The value in forms of the tables above, of those that are kept for its kind."""
    bare = value.replace(" ", "").replace("-", "")
    out = [
        in_base64(value),
        in_base32(value),
        codes("{:02x}", "", value),
        codes("\\x{:02x}", "", value),
        codes("\\u{{{:x}}}", "", value),
        codes("\\{:03o}", "", value),
        codes("={:02X}", "", value),
        codes("%{:02X}", "", value),
        codes("&#{};", "", value),
        tags(value),
        each("\u200b", value),
    ]
    groups = {"CREDIT_CARD": (4, 4, 4, 4), "US_SSN": (3, 2, 4), "IBAN_CODE": (4, 4, 4, 4, 4, 2)}
    if kind not in groups:
        return out
    for joint in ("|", " | ", "/", "\t", "_", ", ", "**", "`", "<br>", '", "', "•"):
        out.append(spread(joint, groups[kind], bare))
    out += [digits(from_list(forms), bare) for forms in (CIRCLED, SUPER)]
    out += [digits(from_zero(zero), bare) for zero in (0xFF10, 0x660, 0xE50, 0x2080)]
    if kind != "IBAN_CODE":
        out += [digits(from_list(CJK), bare), each("\ufe0f\u20e3", bare) + "\ufe0f\u20e3"]
        out.append({"CREDIT_CARD": "Visa", "US_SSN": "SSN"}[kind] + bare)
    return out

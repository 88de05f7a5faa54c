"""Words and facts for make_questions.py."""

NAMES = "Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Karla Leon Mia Noah Olga Paul".split()
GOODS = "apples books pens chairs cups lamps plants shirts stamps bottles boxes tiles".split()
CITIES = "Lisbon Oslo Vienna Dublin Prague Athens Warsaw Madrid Rome Turin Lyon Porto Graz".split()
ANIMALS = "dog cat horse parrot rabbit goat hamster turtle".split()
WORDS = (
    "garden window river planet silver kitchen mountain bridge yellow market engine pencil "
    "island summer forest letter doctor candle button castle"
).split()

CAPITALS = [
    ("France", "Paris"), ("Germany", "Berlin"), ("Italy", "Rome"), ("Spain", "Madrid"),
    ("Portugal", "Lisbon"), ("Austria", "Vienna"), ("Poland", "Warsaw"), ("Greece", "Athens"),
    ("Norway", "Oslo"), ("Sweden", "Stockholm"), ("Finland", "Helsinki"), ("Ireland", "Dublin"),
    ("Hungary", "Budapest"), ("Romania", "Bucharest"), ("Bulgaria", "Sofia"), ("Egypt", "Cairo"),
    ("Kenya", "Nairobi"), ("Japan", "Tokyo"), ("China", "Beijing"), ("Thailand", "Bangkok"),
    ("Vietnam", "Hanoi"), ("Cuba", "Havana"), ("Peru", "Lima"), ("Chile", "Santiago"),
    ("Canada", "Ottawa"), ("Australia", "Canberra"), ("Iceland", "Reykjavik"),
    ("Denmark", "Copenhagen"), ("Belgium", "Brussels"), ("Croatia", "Zagreb"),
    ("Mongolia", "Ulaanbaatar"), ("Nepal", "Kathmandu"), ("Uruguay", "Montevideo"),
    ("Latvia", "Riga"), ("Estonia", "Tallinn"), ("Ghana", "Accra"), ("Senegal", "Dakar"),
    ("Jordan", "Amman"), ("Ecuador", "Quito"), ("Morocco", "Rabat"),
]  # fmt: skip

ELEMENTS = [
    ("hydrogen", "H"), ("oxygen", "O"), ("carbon", "C"), ("gold", "Au"), ("silver", "Ag"),
    ("iron", "Fe"), ("sodium", "Na"), ("potassium", "K"), ("lead", "Pb"), ("copper", "Cu"),
    ("helium", "He"), ("nitrogen", "N"), ("calcium", "Ca"), ("tin", "Sn"), ("zinc", "Zn"),
]  # fmt: skip

OPPOSITES = [
    ("hot", "cold"), ("up", "down"), ("open", ["closed", "close", "shut"]), ("early", "late"),
    ("full", "empty"), ("light", ["dark", "heavy"]), ("strong", "weak"), ("rich", "poor"),
    ("north", "south"), ("always", "never"), ("inside", "outside"), ("win", "lose"),
    ("wet", "dry"), ("arrive", ["leave", "depart"]), ("buy", "sell"), ("remember", "forget"),
    ("thick", "thin"), ("noisy", ["quiet", "silent"]), ("maximum", "minimum"),
    ("ancient", ["modern", "new"]), ("guilty", "innocent"), ("expand", ["contract", "shrink"]),
]  # fmt: skip

PLURALS = [
    ("cat", "cats"), ("box", "boxes"), ("child", "children"), ("mouse", "mice"), ("foot", "feet"),
    ("city", "cities"), ("leaf", "leaves"), ("tooth", "teeth"), ("woman", "women"),
    ("knife", "knives"), ("church", "churches"), ("hero", "heroes"), ("goose", "geese"),
    ("criterion", "criteria"), ("baby", "babies"),
]  # fmt: skip

PAST = [
    ("go", "went"), ("walk", "walked"), ("eat", "ate"), ("write", "wrote"), ("see", "saw"),
    ("bring", "brought"), ("take", "took"), ("swim", "swam"), ("play", "played"),
    ("teach", "taught"), ("begin", "began"), ("choose", "chose"), ("fly", "flew"),
    ("stop", "stopped"), ("throw", "threw"),
]  # fmt: skip

SPANISH = [
    ("house", "casa"), ("water", "agua"), ("dog", "perro"), ("cat", "gato"), ("book", "libro"),
    ("red", ["rojo", "roja"]), ("milk", "leche"), ("sun", "sol"), ("night", "noche"),
    ("bread", "pan"), ("friend", ["amigo", "amiga"]), ("school", "escuela"), ("hand", "mano"),
    ("green", "verde"), ("city", "ciudad"), ("window", "ventana"), ("butterfly", "mariposa"),
]  # fmt: skip

FEELINGS = [
    ("I loved every minute of it.", "positive"),
    ("A waste of money.", "negative"),
    ("It broke after two days and nobody helped.", "negative"),
    ("Better than I expected, I will come again.", "positive"),
    ("Not bad at all, in fact very good.", "positive"),
    ("I would not give it to my worst enemy.", "negative"),
    ("The best that I have had in years.", "positive"),
    ("Boring from beginning to end.", "negative"),
    ("It does what it should and does it well.", "positive"),
    ("I want my money back.", "negative"),
    ("Who pays for something like this?", "negative"),
    ("My whole family was delighted.", "positive"),
    ("It could hardly have been worse.", "negative"),
    ("Hard to find anything to complain about.", "positive"),
]

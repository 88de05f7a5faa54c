"""A letter full of private values, and the pieces of it that must not leave the device."""

LETTER = (
    "Dear Ms. Mary Smith, your card 4111 1111 1111 1111 (mary.smith@acme-corp.com, +1 415-867-5309)"
    " was charged from 81.2.69.160. IBAN DE89 3704 0044 0532 0130 00. Regards, J. Smith"
)
PRIVATE = [
    "Mary",
    "Smith",
    "1111 1111",
    "11111111",
    "acme-corp",
    "867-5309",
    "81.2.69",
    "3704 0044",
]

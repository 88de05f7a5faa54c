"""Texts in words that no lexicon has."""

import re

import languages
import words


class Foreign:
    """Texts of words that are none, but begin and end as those of a language do: no lexicon has all
    words of all languages, and where most are unknown, one that is unknown need not be a name."""

    def __init__(self, rng, names):
        self.rng, self.names = rng, names
        self.words = {}
        for language, text in languages.PLAIN.items():
            found = re.findall(r"[^\W\d_]+", text.replace("\\n", " "))
            self.words[language] = sorted(
                {w.lower() for w in found if len(w) > 2} - set(words.FUNCTION)
            )

    def word(self, language):
        rng, known = self.rng, self.words[language]
        word = rng.choice(known)
        r = rng.random()
        if r < 0.35:
            return word
        other = rng.choice(known)
        if r < 0.8 and len(word) > 3 and len(other) > 3:
            return word[: rng.randint(2, len(word) - 1)] + other[rng.randint(1, len(other) - 2) :]
        at = rng.randrange(len(word))
        return word[:at] + rng.choice(other) + word[at + 1 :]

    def sentence(self, language):
        rng, little = self.rng, languages.LITTLE.get(language)
        out, capital = [], False
        for i in range(rng.randint(3, 14)):
            r = rng.random()
            if i and r < 0.05:
                capital = True
                out += getattr(
                    self.names, rng.choice(["p", "p", "p", "p", "pf", "pl", "c", "c", "n", "o"])
                )()
            else:
                word = rng.choice(little) if little and r < 0.4 else self.word(language)
                # Two German nouns hardly stand side by side, two parts of a name do.
                capital = i == 0 or (language == "german" and r > 0.7 and not capital)
                word = word.capitalize() if capital else word
                out.append((word, None))
            out.append((", " if rng.random() < 0.08 else " ", None))
        out[-1] = (rng.choice(["."] * 5 + ["!", "?", "", ":"]), None)
        return out

    def text(self):
        # German most often: it writes nouns as others write names.
        language = "german" if self.rng.random() < 0.2 else self.rng.choice(list(self.words))
        out = []
        for _ in range(self.rng.choice([1, 1, 2, 3, 5])):
            out += self.sentence(language) + [(" ", None)]
        return out[:-1]

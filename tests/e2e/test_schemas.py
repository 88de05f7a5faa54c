#!/usr/bin/env python3
"""Random JSON schemas of the kinds that are published: what the local model writes under one is
valid for an independent validator (the jsonschema package), every time. TANDEM_SCHEMAS=1000 for the
long run."""

import json
import os
import random
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, main
from tandem import NANO, run

COUNT = int(os.environ.get("TANDEM_SCHEMAS", "60"))
REFUSED_SHARE_MAX = 0.15
NAMES = (
    "id name kind value items tags email count active parent note price unit start end x_1"
    " größe a-b".split()
)


class Maker:
    """One schema with its definitions."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.defs = {}

    def maybe(self, share):
        return self.rng.random() < share

    def whole(self):
        schema = self.any(3)
        if self.defs:
            schema["$defs"] = self.defs
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "a test",
            **schema,
        }

    def any(self, depth):
        kinds = [self.string, self.integer, self.number, self.boolean, self.values]
        if depth > 0:
            kinds += [
                self.object,
                self.object,
                self.object,
                self.array,
                self.choice,
                self.all_of,
                self.reference,
            ]
        return self.rng.choice(kinds)(depth)

    def string(self, _):
        schema = {"type": "string"}
        kind = self.rng.randrange(4)
        if kind == 0:
            low = self.rng.randrange(4)
            schema.update(minLength=low, maxLength=low + self.rng.randrange(1, 9))
        elif kind == 1:
            schema["format"] = self.rng.choice(
                "date time date-time uuid email ipv4 ipv6 hostname uri int32".split()
            )
        elif kind == 2:
            schema["pattern"] = self.rng.choice(
                [
                    r"^[A-Z]{2}\d{3}$",
                    r"^(yes|no)$",
                    r"^#[0-9a-f]{6}$",
                    r"^\w+@\w+$",
                    r"^v\d+(\.\d+)*$",
                    "abc",
                ]
            )
        return schema

    def bounds(self, schema, whole):
        low = self.rng.randrange(-50, 200)
        high = low + self.rng.randrange(20, 400)
        if self.maybe(0.5):
            schema[self.rng.choice(["minimum", "exclusiveMinimum"])] = (
                low if whole or self.maybe(0.5) else low + 0.5
            )
        if self.maybe(0.5):
            schema[self.rng.choice(["maximum", "exclusiveMaximum"])] = high
        return schema

    def integer(self, _):
        schema = self.bounds({"type": "integer"}, True)
        if self.maybe(0.3):
            schema["multipleOf"] = self.rng.choice([1, 2, 5, 7, 10, 25, 100])
            for bound in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
                if self.maybe(0.7):
                    schema.pop(bound, None)
        return schema

    def number(self, _):
        schema = self.bounds({"type": "number"}, False)
        if self.maybe(0.15):
            schema["multipleOf"] = self.rng.choice([1, 0.5, 0.25])
        return schema

    def boolean(self, _):
        return {
            "type": self.rng.choice(["boolean", "null", ["boolean", "null"], ["integer", "string"]])
        }

    def values(self, _):
        pool = ["red", "green", 'a "quote"', 1, 2.5, None, True, "ü", {"a": [1]}, []]
        if self.maybe(0.3):
            return {"const": self.rng.choice(pool)}
        return {"enum": self.rng.sample(pool, self.rng.randrange(1, 5))}

    def object(self, depth):
        names = self.rng.sample(NAMES, self.rng.randrange(0, 5))
        schema = {"type": "object"}
        if names:
            schema["properties"] = {name: self.any(depth - 1) for name in names}
            required = [name for name in names if self.maybe(0.5)]
            if required:
                schema["required"] = required
        if self.maybe(0.5):
            schema["additionalProperties"] = False if self.maybe(0.7) else self.any(0)
        if names and self.maybe(0.15):
            a, b = self.rng.choice(names), self.rng.choice(names)
            schema["dependentRequired"] = {a: [b]}
        if names and self.maybe(0.15):
            schema["minProperties"] = self.rng.randrange(0, len(names) + 1)
        if len(names) > 1 and self.maybe(0.15):
            schema[self.rng.choice(["anyOf", "oneOf"])] = [
                {"required": [name]} for name in names[:2]
            ]
        if names and self.maybe(0.1):
            schema["if"] = {"properties": {names[0]: {"type": "string"}}, "required": [names[0]]}
            schema["then"] = {"required": [names[-1]]}
        if not names and self.maybe(0.5):
            schema["patternProperties"] = {"^k_[a-z]+$": self.any(depth - 1)}
            schema["additionalProperties"] = False
        return schema

    def array(self, depth):
        schema = {"type": "array", "items": self.any(depth - 1)}
        low = self.rng.randrange(3)
        if self.maybe(0.6):
            schema.update(minItems=low, maxItems=low + self.rng.randrange(0, 4))
        if self.maybe(0.2):
            schema["prefixItems"] = [self.any(0), self.any(0)]
        if self.maybe(0.2):
            schema.pop("prefixItems", None)
            schema.update(items={"enum": ["a", "b", "c", 4, 5]}, uniqueItems=True)
        if self.maybe(0.1):
            schema["contains"] = self.any(0)
        return schema

    def choice(self, depth):
        if self.maybe(0.4):
            return {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": tag}, "v": self.any(depth - 1)},
                        "required": ["kind"],
                    }
                    for tag in ("one", "two", "three")[: self.rng.randrange(2, 4)]
                ]
            }
        return {"anyOf": [self.any(depth - 1) for _ in range(self.rng.randrange(1, 4))]}

    def all_of(self, depth):
        parts = [self.object(depth - 1), self.object(depth - 1)]
        for part in parts:
            part.pop("additionalProperties", None)
            part.pop("patternProperties", None)
        schema = {"allOf": parts}
        if self.maybe(0.3):
            schema["unevaluatedProperties"] = False
        return schema

    def reference(self, depth):
        name = self.rng.choice(["Node", "Leaf"])
        if name not in self.defs:
            self.defs[name] = {}
            self.defs[name] = {
                "type": "object",
                "required": ["v"],
                "properties": {
                    "v": self.any(0),
                    "next": {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]},
                },
            }
        schema = {"$ref": f"#/$defs/{name}"}
        if self.maybe(0.2):
            schema["required"] = ["next"]
        return schema


def satisfiable(message):
    """Refusals because nothing fits say nothing about what is supported."""
    return not re.search(
        r"no value|satisf|no number|no multiple|is above|forbids it|below what is required", message
    )


@case
def test_what_is_written_under_a_schema_is_valid():
    try:
        import jsonschema
    except ImportError:
        raise Skip("the jsonschema package is not installed") from None
    written = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema.json"
        for seed in range(COUNT):
            schema = Maker(seed).whole()
            path.write_text(json.dumps(schema))
            code, out, err = run(
                "generate",
                "-m",
                NANO,
                "--json-schema",
                path,
                "-p",
                "Give the data:",
                "-n",
                "400",
                "--temp",
                "1.2",
                "--seed",
                seed + 1,
                timeout=600,
            )
            if code != 0:
                assert "JSON schema" in err, (seed, err)
                refused += satisfiable(err)
                if satisfiable(err) and os.environ.get("TANDEM_VERBOSE"):
                    print(seed, err.strip())
                continue
            try:
                value = json.loads(out)
            except ValueError as error:
                raise AssertionError(f"seed {seed}: {error}: {out[-200:]!r}") from None
            found = list(jsonschema.Draft202012Validator(schema).iter_errors(value))
            assert not found, (seed, json.dumps(schema), json.dumps(value), found[0].message)
            written += 1
    print(f"{written} of {COUNT} schemas written, all valid; {refused} refused as not supported")
    assert written > COUNT / 3 and refused <= COUNT * REFUSED_SHARE_MAX, (written, refused)


if __name__ == "__main__":
    main()

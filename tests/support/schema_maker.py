"""Random JSON schemas of the kinds that are published."""

import random
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

NAMES = (
    "id name kind value items tags email count active parent note price unit start end x_1"
    " größe a-b".split()
)


class Maker:
    """One schema with its definitions."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.defs: Schema = {}

    def maybe(self, share: float) -> bool:
        return self.rng.random() < share

    def whole(self) -> Schema:
        schema = self.any(3)
        if self.defs:
            schema["$defs"] = self.defs
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "a test",
            **schema,
        }

    def any(self, depth: int) -> Schema:
        kinds: list[Callable[[int], Schema]] = [
            self.string,
            self.integer,
            self.number,
            self.boolean,
            self.values,
        ]
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

    def string(self, _: int) -> Schema:
        schema: Schema = {"type": "string"}
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

    def bounds(self, schema: Schema, whole: bool) -> Schema:
        low = self.rng.randrange(-50, 200)
        high = low + self.rng.randrange(20, 400)
        if self.maybe(0.5):
            schema[self.rng.choice(["minimum", "exclusiveMinimum"])] = (
                low if whole or self.maybe(0.5) else low + 0.5
            )
        if self.maybe(0.5):
            schema[self.rng.choice(["maximum", "exclusiveMaximum"])] = high
        return schema

    def integer(self, _: int) -> Schema:
        schema = self.bounds({"type": "integer"}, True)
        if self.maybe(0.3):
            schema["multipleOf"] = self.rng.choice([1, 2, 5, 7, 10, 25, 100])
            for bound in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
                if self.maybe(0.7):
                    schema.pop(bound, None)
        return schema

    def number(self, _: int) -> Schema:
        schema = self.bounds({"type": "number"}, False)
        if self.maybe(0.15):
            schema["multipleOf"] = self.rng.choice([1, 0.5, 0.25])
        return schema

    def boolean(self, _: int) -> Schema:
        return {
            "type": self.rng.choice(["boolean", "null", ["boolean", "null"], ["integer", "string"]])
        }

    def values(self, _: int) -> Schema:
        pool = ["red", "green", 'a "quote"', 1, 2.5, None, True, "ü", {"a": [1]}, []]
        if self.maybe(0.3):
            return {"const": self.rng.choice(pool)}
        return {"enum": self.rng.sample(pool, self.rng.randrange(1, 5))}

    def object(self, depth: int) -> Schema:
        names = self.rng.sample(NAMES, self.rng.randrange(0, 5))
        schema: Schema = {"type": "object"}
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

    def array(self, depth: int) -> Schema:
        schema: Schema = {"type": "array", "items": self.any(depth - 1)}
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

    def choice(self, depth: int) -> Schema:
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

    def all_of(self, depth: int) -> Schema:
        parts = [self.object(depth - 1), self.object(depth - 1)]
        for part in parts:
            part.pop("additionalProperties", None)
            part.pop("patternProperties", None)
        schema: Schema = {"allOf": parts}
        if self.maybe(0.3):
            schema["unevaluatedProperties"] = False
        return schema

    def reference(self, depth: int) -> Schema:
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
        schema: Schema = {"$ref": f"#/$defs/{name}"}
        if self.maybe(0.2):
            schema["required"] = ["next"]
        return schema

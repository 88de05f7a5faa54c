// Writes src/declarations.ts from the C headers, so that no declaration is written twice: koffi gets
// the structs with their members in order, and the functions as C declares them.

import { existsSync, readFileSync, writeFileSync } from "node:fs";

const here = new URL(".", import.meta.url);
const folder = [new URL("headers/", here), new URL("../../include/tandem/", here)].find((place) =>
  existsSync(new URL("engine.h", place)),
);
const text = ["types.h", "engine.h"]
  .map((name) => readFileSync(new URL(name, folder), "utf8"))
  .join("\n")
  .replace(/\/\*[^]*?\*\//g, "")
  .replace(/TD_PUBLIC|TD_MUST_CHECK/g, "");

const numbers = Object.fromEntries(
  [...text.matchAll(/^#define (TD_\w+) (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]),
);
const code = text.replace(/^#.*(?:\\\n.*)*$/gm, "");

/** An enumeration is an int to the C ABI; a pointer to a function or a byte is only an address. */
const plain = (type) =>
  type
    .replace(/\benum td_\w+/g, "int")
    .replace(/\b(const|struct)\s+/g, "")
    .replace(/\s+/g, " ")
    .trim();

const enums = {};
for (const [, name, body] of code.matchAll(/\benum (td_\w+) \{([^}]*)\}/g)) {
  enums[name] = body.split(",").map((word) => word.replace(/=.*/, "").trim()).filter(Boolean);
}

const structs = {};
for (const [, name, body] of code.matchAll(/\bstruct (td_\w+) \{([^}]*)\}/g)) {
  structs[name] = {};
  for (const line of body.split(";").map(plain).filter(Boolean)) {
    const [, type, members] = /^([\w ]+?)\s*((?:\**\w+(?:\[\w+\])?(?:, )?)+)$/.exec(line);
    for (const member of members.split(/,\s*/)) {
      const [, stars, field, length] = /^(\**)(\w+)(?:\[(\w+)\])?$/.exec(member);
      const array = length ? `[${numbers[length] ?? length}]` : "";
      structs[name][field] = !stars ? type + array : type === "td_str" ? "td_str *" : "void *";
    }
  }
}

const functions = {};
for (const [all, name] of code.matchAll(/^[\w \n*]*?\b(td_\w+)\([^;{]*\);/gm)) {
  if (!all.includes("typedef")) functions[name] = plain(all.replace(";", ""));
}

writeFileSync(
  new URL("src/declarations.ts", here),
  "// Made of the C headers by make_declarations.mjs.\n" +
    Object.entries({ enums, structs, functions })
      .map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)} as const;\n`)
      .join(""),
);

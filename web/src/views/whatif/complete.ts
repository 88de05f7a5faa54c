// What may stand at the cursor, by the JSON Schema: keys of the map, or values of the key.
import type { Schema } from '../../api/config'

export interface Option {
  text: string // what is put in
  name: string
  hint: string
}

export interface Completion {
  from: number // what is typed of it begins there
  options: Option[]
}

interface Place {
  path: string[] // keys from the root; "" is an entry of a list
  key: string | null // a value of this key is wanted
  typed: string
}

const indentOf = (line: string) => line.length - line.trimStart().length
const WORD = /[\w.-]*$/
const KEY = /^([\w.-]+):(?:\s|$)/

/** The keys above a line, by their indents. */
function above(lines: string[], at: number, indent: number): string[] {
  const path: string[] = []
  let least = indent
  for (let i = at - 1; i >= 0 && least >= 0; i--) {
    const line = lines[i]!
    const body = line.trim()
    if (!body || body.startsWith('#')) continue
    let own = indentOf(line)
    let rest = body
    const dashes: number[] = []
    while (rest === '-' || rest.startsWith('- ')) {
      dashes.push(own)
      const next = rest.slice(1).trimStart()
      own += rest.length - next.length
      rest = next
    }
    const key = KEY.exec(rest)?.[1]
    if (key && own < least && rest.slice(key.length + 1).replace(/#.*/, '').trim() === '') {
      path.unshift(key)
      least = own
    }
    for (const dash of dashes.reverse())
      if (dash < least) {
        path.unshift('')
        least = dash
      }
    // A list may stand as far to the left as its key.
    if (key && path[0] === '' && own === least && dashes.length === 0 && !rest.slice(key.length + 1).trim()) {
      path.unshift(key)
      least = own
    }
  }
  return path
}

/** Inside of {…} and […] on the line itself. */
function within(text: string): { path: string[]; key: string | null } {
  const stack: { list: boolean; path: string[] }[] = []
  let path: string[] = []
  let key: string | null = null
  let word = ''
  for (const char of text) {
    if (char === '{' || char === '[') {
      stack.push({ list: char === '[', path })
      path = [...path, ...(key ? [key] : stack.length > 1 && stack.at(-2)!.list ? [''] : [])]
      key = null
      word = ''
    } else if (char === '}' || char === ']') {
      path = stack.pop()?.path ?? []
      key = null
      word = ''
    } else if (char === ',') {
      key = null
      word = ''
    } else if (char === ':') {
      key = word.trim()
      word = ''
    } else word += char
  }
  if (stack.at(-1)?.list) path = [...path, '']
  return { path, key }
}

function placeOf(text: string, caret: number): Place | null {
  const lines = text.slice(0, caret).split('\n')
  const line = lines.pop()!
  if (/(^|\s)#/.test(line)) return null
  const typed = WORD.exec(line)![0]
  let body = line.slice(0, line.length - typed.length)
  let indent = indentOf(body)
  let list = 0
  let rest = body.trimStart()
  while (rest.startsWith('- ')) {
    const next = rest.slice(1).trimStart()
    indent += rest.length - next.length
    rest = next
    list++
  }
  const first = body.length - body.trimStart().length
  const path = above(lines, lines.length, list ? first + 1 : indent)
  // The dash of this line begins an entry of its own.
  if (list) {
    if (path.at(-1) === '') path.pop()
    path.push('')
  }
  const inner = within(rest)
  return { path: [...path, ...inner.path], key: inner.key, typed }
}

function resolve(schema: Schema | undefined, path: string[]): Schema | undefined {
  let at = schema
  for (const step of path) {
    const kinds: Schema[] = at ? [at, ...(at.anyOf ?? [])] : []
    at = step === '' ? kinds.find((one) => one.items)?.items : kinds.find((one) => one.properties?.[step])?.properties?.[step]
  }
  return at
}

const plain = (value: unknown) => String(value)

function values(schema: Schema | undefined): string[] {
  if (!schema) return []
  const all = [schema, ...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]
  const found = all.flatMap((one) => [
    ...(one.enum ?? []),
    ...(one.const === undefined ? [] : [one.const]),
    ...(one.type === 'boolean' ? [true, false] : []),
  ])
  return [...new Set(found.map(plain))]
}

function keys(schema: Schema | undefined): Option[] {
  const kinds = schema ? [schema, ...(schema.anyOf ?? [])] : []
  return kinds.flatMap((one) =>
    Object.entries(one.properties ?? {}).map(([name, { description, default: usual }]) => ({
      text: `${name}: `,
      name,
      hint: (description ?? '') + (usual === undefined ? '' : ` (${plain(usual)})`),
    })),
  )
}

export function complete(schema: Schema, text: string, caret: number): Completion | null {
  const place = placeOf(text, caret)
  if (!place) return null
  const at = resolve(schema, place.key === null ? place.path : [...place.path, place.key])
  const options =
    place.key === null && !at?.enum
      ? keys(at)
      : values(at).map((name) => ({ text: name, name, hint: at?.description ?? '' }))
  const fitting = options.filter(
    ({ name }) => name.startsWith(place.typed) && name !== place.typed,
  )
  return fitting.length ? { from: caret - place.typed.length, options: fitting } : null
}

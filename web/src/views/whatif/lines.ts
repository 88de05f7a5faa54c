// What changed between two texts, line by line, and lines put below a route.

export interface DiffLine {
  kind: 'same' | 'out' | 'in' | 'gap'
  text: string
  line: number | null // of the new text
}

const AROUND = 2 // lines of context
const CELLS_MAX = 4_000_000

/** The longest common lines of the middle stay; beginning and end are the same most of the time. */
function middle(a: string[], b: string[]): DiffLine[] {
  const out = (text: string): DiffLine => ({ kind: 'out', text, line: null })
  const into = (text: string): DiffLine => ({ kind: 'in', text, line: null })
  if (a.length * b.length > CELLS_MAX) return [...a.map(out), ...b.map(into)]
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length)
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: b[j]!, line: null })
      i++
      j++
    } else if (
      i < a.length &&
      (j === b.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      lines.push(out(a[i++]!))
    else lines.push(into(b[j++]!))
  return lines
}

/** Only what changed, with a few lines around it. Empty: nothing did. */
export function diff(before: string, after: string): DiffLine[] {
  const a = before.replace(/\n$/, '').split('\n')
  const b = after.replace(/\n$/, '').split('\n')
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  const most = Math.min(a.length, b.length) - head
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (text: string): DiffLine => ({ kind: 'same', text, line: null })
  const all = [
    ...b.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...b.slice(b.length - tail).map(same),
  ]
  let number = 0
  for (const line of all) if (line.kind !== 'out') line.line = ++number
  const near = all.map((_, at) =>
    all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((line) => line.kind !== 'same'),
  )
  const shown: DiffLine[] = []
  all.forEach((line, at) => {
    if (near[at]) shown.push(line)
    else if (shown.length && shown.at(-1)!.kind !== 'gap') shown.push({ kind: 'gap', text: '', line: null })
  })
  return shown.at(-1)?.kind === 'gap' ? shown.slice(0, -1) : shown
}

const indentOf = (line: string) => line.length - line.trimStart().length
const isBare = (line: string) => /^\s*(#.*)?$/.test(line)

/** The lines at the end of a route that stands as a block; keys that they replace stay as comments.
 * Null: the route does not stand so. */
export function putInRoute(text: string, route: string, yaml: string): string | null {
  const lines = text.replace(/\n$/, '').split('\n')
  const begin = lines.findIndex((line) => /^routes:\s*(#.*)?$/.test(line))
  if (begin < 0) return null
  let end = begin + 1
  while (end < lines.length && (isBare(lines[end]!) || /^(\s|-)/.test(lines[end]!))) end++
  const named = (line: string) =>
    /^\s*- +name:\s*(.*?)\s*(#.*)?$/.exec(line)?.[1]?.replace(/^["']|["']$/g, '') === route
  const first = lines.findIndex((line, at) => at > begin && at < end && named(line))
  if (first < 0) return null
  const dash = indentOf(lines[first]!)
  const indent = lines[first]!.indexOf('name:')
  let last = first + 1
  while (last < end && (isBare(lines[last]!) || indentOf(lines[last]!) > dash)) last++
  while (last > first + 1 && isBare(lines[last - 1]!)) last--
  const pad = ' '.repeat(indent)
  const added = yaml.split('\n').filter((line) => !line.startsWith('#'))
  const keys = added.filter((line) => !line.startsWith(' ')).map((line) => line.split(':')[0]!)
  let old = false
  const kept = lines.slice(first, last).map((line, at) => {
    if (at && !isBare(line) && indentOf(line) <= indent)
      old = indentOf(line) === indent && keys.includes(line.trim().split(':')[0]!)
    return old && !isBare(line) ? `${pad}# ${line.slice(indent)}` : line
  })
  return [
    ...lines.slice(0, first),
    ...kept,
    ...added.map((line) => pad + line),
    ...lines.slice(last),
    '',
  ].join('\n')
}

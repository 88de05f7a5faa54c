// Markdown of models and users, made into elements: never into HTML. What is no markdown, tags too,
// is shown as it is. Images are not loaded, because nothing may be asked of another host; links are
// opened by a click alone, and only those of http, https and mailto.
//
// The reader goes over the text once, line by line, and each pattern is anchored and without
// nested repetition: no text takes long. Depth is limited, so no text overflows the stack.
import type { ComponentChildren, VNode } from 'preact'
import { CopyButton } from './copy'

const DEPTH_MAX = 8
const SAFE_LINK = /^(?:https?:\/\/|mailto:)[^\s]+$/i

// --- inside a line ---

type Mark = { sign: string; tag: 'strong' | 'em' | 'del' }

const MARKS: Mark[] = [
  { sign: '**', tag: 'strong' },
  { sign: '__', tag: 'strong' },
  { sign: '~~', tag: 'del' },
  { sign: '*', tag: 'em' },
  { sign: '_', tag: 'em' },
]

const isWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char)

/** Where the mark that opens at `at` closes; -1 where it opens nothing. */
function closing(text: string, at: number, { sign }: Mark): number {
  const from = at + sign.length
  if (/^\s?$/.test(text[from] ?? '') || (sign[0] === '_' && isWord(text[at - 1]))) return -1
  for (let end = text.indexOf(sign, from + 1); end >= 0; end = text.indexOf(sign, end + 1)) {
    const after = text[end + sign.length]
    const lone = sign.length === 2 || (after !== sign && text[end - 1] !== sign)
    if (lone && !/\s/.test(text[end - 1] ?? ' ') && !(sign[0] === '_' && isWord(after))) return end
  }
  return -1
}

function link(text: string, at: number, depth: number): { node: VNode; end: number } | null {
  const middle = text.indexOf('](', at)
  const end = middle < 0 ? -1 : text.indexOf(')', middle)
  if (end < 0 || middle - at > 1000 || end - middle > 2000) return null
  const address = text.slice(middle + 2, end).trim().split(/\s/)[0] ?? ''
  const label = text.slice(at + (text[at] === '!' ? 2 : 1), middle)
  if (label.includes('\n') || !SAFE_LINK.test(address)) return null
  return { node: anchor(address, inline(label || address, depth + 1)), end: end + 1 }
}

const anchor = (address: string, children: ComponentChildren) => (
  <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
    {children}
  </a>
)

function bare(text: string, at: number): string | null {
  if (!/^https?:\/\//i.test(text.slice(at, at + 8)) || isWord(text[at - 1])) return null
  let end = at
  while (end < text.length && !/[\s<>"'`]/.test(text[end]!)) end++
  return text.slice(at, end).replace(/[.,;:!?)\]]{1,3}$/, '')
}

interface Piece {
  node: ComponentChildren
  end: number
}

/** The element that begins at this place, if one does. failed: marks that close nowhere after. */
function piece(text: string, at: number, depth: number, failed: Set<string>): Piece | null {
  const char = text[at]!
  if (char === '`') {
    const ticks = /^`{1,3}/.exec(text.slice(at, at + 3))![0]
    const end = failed.has(ticks) ? -1 : text.indexOf(ticks, at + ticks.length)
    if (end < 0) failed.add(ticks)
    if (end > at + ticks.length)
      return { node: <code>{text.slice(at + ticks.length, end)}</code>, end: end + ticks.length }
    return null
  }
  if (char === '\\' && /[\\`*_{}[\]()#+\-.!~>|]/.test(text[at + 1] ?? ''))
    return { node: text[at + 1], end: at + 2 }
  if (char === '[' || (char === '!' && text[at + 1] === '[')) return link(text, at, depth)
  if (char === 'h') {
    const address = bare(text, at)
    return address && address.length > 8
      ? { node: anchor(address, address), end: at + address.length }
      : null
  }
  for (const mark of MARKS) {
    if (!text.startsWith(mark.sign, at) || failed.has(mark.sign)) continue
    const end = closing(text, at, mark)
    if (end < 0) {
      if (text.indexOf(mark.sign, at + mark.sign.length) < 0) failed.add(mark.sign)
      continue
    }
    const Tag = mark.tag
    const inner = inline(text.slice(at + mark.sign.length, end), depth + 1)
    return { node: <Tag>{inner}</Tag>, end: end + mark.sign.length }
  }
  return null
}

const INLINE_CHARS_MAX = 20_000 // a longer line is shown as it is

function inline(text: string, depth = 0): ComponentChildren {
  if (depth > DEPTH_MAX || text.length > INLINE_CHARS_MAX) return text
  const out: ComponentChildren[] = []
  const failed = new Set<string>()
  let plain = 0
  let at = 0
  while (at < text.length) {
    if (!'`*_~[!\\h'.includes(text[at]!)) {
      at++
      continue
    }
    const found = piece(text, at, depth, failed)
    if (!found) {
      at++
      continue
    }
    if (plain < at) out.push(text.slice(plain, at))
    out.push(found.node)
    plain = at = found.end
  }
  out.push(text.slice(plain))
  return out
}

// --- lines ---

const FENCE = /^ {0,3}(```+|~~~+) *([\w+#.-]{0,30})/
const HEADING = /^ {0,3}(#{1,6}) +(.*)$/
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,}) *$/
const ITEM = /^( {0,12})([-*+]|\d{1,9}[.)]) +(.*)$/
const QUOTE = /^ {0,3}> ?(.*)$/
const TABLE_LINE = /^ *\|?[ :|-]*-[ :|-]*$/

const cells = (line: string) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .slice(0, 64)
    .map((cell) => cell.trim())

function withBreaks(lines: string[]): ComponentChildren {
  return lines.flatMap((line, at) => (at ? [<br key={`b${at}`} />, inline(line)] : [inline(line)]))
}

function Code({ text, name }: { text: string; name: string }) {
  return (
    <div class="code">
      <header>
        <span>{name}</span>
        <CopyButton text={() => text} />
      </header>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  )
}

class Reader {
  at = 0
  constructor(
    readonly lines: string[],
    readonly depth: number,
  ) {}

  blocks(): VNode[] {
    const out: VNode[] = []
    while (this.at < this.lines.length) {
      const block = this.block()
      if (block) out.push(block)
    }
    return out
  }

  private block(): VNode | null {
    const line = this.lines[this.at]!
    if (!line.trim()) {
      this.at++
      return null
    }
    const fence = FENCE.exec(line)
    if (fence) return this.code(fence[1]!, fence[2]!)
    const heading = HEADING.exec(line)
    if (heading) return this.heading(heading[1]!.length, heading[2]!)
    if (RULE.test(line)) {
      this.at++
      return <hr />
    }
    if (QUOTE.test(line) && this.depth < DEPTH_MAX) return this.quote()
    if (ITEM.test(line) && this.depth < DEPTH_MAX) return this.list()
    if (line.includes('|') && TABLE_LINE.test(this.lines[this.at + 1] ?? '')) return this.table()
    return this.paragraph()
  }

  private code(fence: string, name: string): VNode {
    const from = ++this.at
    while (this.at < this.lines.length && !this.lines[this.at]!.trim().startsWith(fence)) this.at++
    const text = this.lines.slice(from, this.at++).join('\n')
    return <Code text={text} name={name} />
  }

  private heading(level: number, text: string): VNode {
    this.at++
    // The page has a heading of its own, so those of an answer begin below it.
    const Tag = `h${Math.min(level + 2, 6)}` as 'h3'
    return <Tag>{inline(text.replace(/ +#+ *$/, ''))}</Tag>
  }

  private quote(): VNode {
    const inner: string[] = []
    for (let found; (found = QUOTE.exec(this.lines[this.at] ?? '')); this.at++) inner.push(found[1]!)
    return <blockquote>{new Reader(inner, this.depth + 1).blocks()}</blockquote>
  }

  private list(): VNode {
    const first = ITEM.exec(this.lines[this.at]!)!
    const ordered = /\d/.test(first[2]!)
    const indent = first[1]!.length
    const items: VNode[] = []
    for (let found; (found = ITEM.exec(this.lines[this.at] ?? '')); ) {
      if (found[1]!.length !== indent || /\d/.test(found[2]!) !== ordered) break
      items.push(<li>{this.listItem(found[3]!, indent)}</li>)
    }
    if (!ordered) return <ul>{items}</ul>
    return <ol start={parseInt(first[2]!, 10)}>{items}</ol>
  }

  /** The first line of an item, and what is indented below it. */
  private listItem(text: string, indent: number): ComponentChildren {
    const inner = [text]
    this.at++
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]!
      const deeper = line.search(/\S/) > indent
      const blank = !line.trim() && (this.lines[this.at + 1] ?? '').search(/\S/) > indent
      if (!deeper && !blank) break
      inner.push(line.slice(Math.min(indent + 2, Math.max(line.search(/\S/), 0))))
    }
    if (!(this.lines[this.at] ?? 'x').trim() && ITEM.test(this.lines[this.at + 1] ?? '')) this.at++
    return inner.length === 1 ? inline(text) : new Reader(inner, this.depth + 1).itemBlocks()
  }

  /** An item's blocks; its first paragraph is not set apart. */
  itemBlocks(): ComponentChildren {
    const from = this.at
    while (this.at < this.lines.length && this.isPlain(this.at)) this.at++
    const head = this.lines.slice(from, this.at)
    return [head.length ? withBreaks(head) : null, this.blocks()]
  }

  private table(): VNode {
    const head = cells(this.lines[this.at]!)
    this.at += 2
    const rows: string[][] = []
    for (; (this.lines[this.at] ?? '').includes('|'); this.at++) rows.push(cells(this.lines[this.at]!))
    return (
      <div class="table" tabIndex={0}>
        <table>
          <thead>
            <tr>{head.map((cell) => <th>{inline(cell)}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>{head.map((_, column) => <td>{inline(row[column] ?? '')}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    )
  }

  private isPlain(at: number): boolean {
    const line = this.lines[at]!
    return !!line.trim() && ![FENCE, HEADING, RULE, ITEM, QUOTE].some((form) => form.test(line))
  }

  private paragraph(): VNode {
    const from = this.at++
    while (this.at < this.lines.length && this.isPlain(this.at)) this.at++
    return <p>{withBreaks(this.lines.slice(from, this.at))}</p>
  }
}

export function Markdown({ text }: { text: string }) {
  return <div class="prose">{new Reader(text.split('\n'), 0).blocks()}</div>
}

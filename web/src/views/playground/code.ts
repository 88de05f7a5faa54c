// A request as a program would send it: for a terminal, in Python, in JavaScript. Each is whole, so
// that it runs as it is copied.
import type { ChatRequest } from '../../api/types'

export type CodeKind = 'curl' | 'python' | 'javascript'

/** What a program sends: as the page does, but not as a stream, which takes more lines to read. */
function plain(request: ChatRequest): Record<string, unknown> {
  const { corrections: _, ...tandem } = request.tandem
  const more = Object.fromEntries(
    Object.entries(request).filter(([name]) => !['stream', 'stream_options', 'tandem'].includes(name)),
  )
  return Object.keys(tandem).length ? { ...more, tandem } : more
}

const inShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function curl(request: ChatRequest, base: string, needsKey: boolean): string {
  const lines = [`curl ${base}/chat/completions`, `-H 'content-type: application/json'`]
  if (needsKey) lines.push('-H "authorization: Bearer $TANDEM_API_KEY"')
  lines.push(`-d ${inShell(JSON.stringify(plain(request), null, 2))}`)
  return lines.join(' \\\n  ')
}

/** A literal of Python: its strings know JSON's escapes, its constants have other names. */
function inPython(value: unknown, indent: string): string {
  const deeper = `${indent}    `
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const rows = Array.isArray(value)
    ? value.map((one) => inPython(one, deeper))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${inPython(one, deeper)}`)
  if (!rows.length) return `${open}${close}`
  return `${open}\n${rows.map((row) => `${deeper}${row},\n`).join('')}${indent}${close}`
}

function python(request: ChatRequest, base: string, needsKey: boolean): string {
  const { tandem, ...known } = plain(request)
  const rows = Object.entries(known).map(([name, value]) => `    ${name}=${inPython(value, '    ')},`)
  if (tandem) rows.push(`    extra_body={"tandem": ${inPython(tandem, '    ')}},`)
  const key = needsKey ? 'os.environ["TANDEM_API_KEY"]' : '"none"'
  return [
    ...(needsKey ? ['import os', ''] : []),
    'from openai import OpenAI  # pip install openai',
    '',
    `client = OpenAI(base_url=${JSON.stringify(base)}, api_key=${key})`,
    'answer = client.chat.completions.create(',
    ...rows,
    ')',
    'print(answer.choices[0].message.content)',
    'print(answer.tandem)  # where it was answered, why, and what it cost',
  ].join('\n')
}

function javascript(request: ChatRequest, base: string, needsKey: boolean): string {
  const key = needsKey ? 'process.env.TANDEM_API_KEY' : "'none'"
  return [
    "import OpenAI from 'openai' // npm install openai",
    '',
    `const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: ${key} })`,
    `const answer = await client.chat.completions.create(${JSON.stringify(plain(request), null, 2)})`,
    'console.log(answer.choices[0].message.content)',
    'console.log(answer.tandem) // where it was answered, why, and what it cost',
  ].join('\n')
}

const WRITERS = { curl, python, javascript }

/** base: the address of the API, as in http://127.0.0.1:8080/v1. */
export const codeOf = (kind: CodeKind, request: ChatRequest, base: string, needsKey: boolean) =>
  WRITERS[kind](request, base, needsKey)

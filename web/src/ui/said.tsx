// What the server says, in the language of the page. It says all in English: a sentence that is
// known here is said in the page's words with its values, a reason otherwise by what its code means,
// with the server's own sentence behind it. What is not known stays as it is.
import { language } from '../texts'
import { codes, sentences, words } from '../texts/de-server'

interface Tongue {
  sentences: [string, string][]
  codes: Record<string, string>
  words: Record<string, string>
}

const tongues: Record<string, Tongue> = { de: { sentences, codes, words } }
const TEXT_MAX = 1000 // the server's are shorter; patterns take long for long ones
const patterns = new Map<string, RegExp>()

function patternOf(english: string): RegExp {
  let found = patterns.get(english)
  if (!found) {
    const parts = english.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    found = new RegExp(`^${parts.join('(.*?)')}$`, 's')
    patterns.set(english, found)
  }
  return found
}

/** The page's words for a whole sentence, for several with "; " between them, or null. */
function known(text: string, tongue: Tongue, depth = 0): string | null {
  if (text.length > TEXT_MAX) return null
  for (const [english, own] of tongue.sentences) {
    const values = patternOf(english).exec(text)
    if (!values) continue
    return own.replace(/\{([=+]?)(\d)\}/g, (_, kind: string, at: string) => {
      const value = values[Number(at) + 1] ?? ''
      if (kind === '=') return tongue.words[value] ?? value
      if (kind === '+' && depth < 3) return known(value, tongue, depth + 1) ?? value
      return /^\d+\.\d+$/.test(value) ? value.replace('.', ',') : value
    })
  }
  const parts = text.split('; ')
  if (parts.length < 2 || depth >= 3) return null
  return parts.map((part) => known(part, tongue, depth + 1) ?? part).join('; ')
}

export function said(text: string): string {
  const tongue = tongues[language()]
  if (!tongue) return text
  return text
    .split(/(?<=\.) (?=[A-Z])/)
    .map((sentence) => known(sentence, tongue) ?? sentence)
    .join(' ')
}

/** A ticket's and a stream's may have no text. */
export function ReasonText({ reason }: { reason: { code?: string; text?: string | null } }) {
  const code = reason.code ?? ''
  const text = reason.text ?? ''
  const tongue = tongues[language()]
  const whole = tongue ? known(text, tongue) : text
  const byCode = tongue?.codes[code]
  if (whole || !byCode) return <bdi>{whole || text || code.replaceAll('_', ' ')}</bdi>
  return (
    <>
      {byCode}{' '}
      {text && (
        <small lang="en" class="said-so">
          <bdi>{text}</bdi>
        </small>
      )}
    </>
  )
}

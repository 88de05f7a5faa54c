// The tokens of an answer with how likely the model found each, as its log-probabilities say.
import type { TokenLogprob } from '../../api/types'

export interface Token {
  text: string
  p: number // 0 to 1
}

const TOKENS_MAX = 20_000 // an answer with more is shown without shades

/** How sure, in steps that the eye tells apart: 0 is sure, 4 is a guess. */
export const STEPS = [0.95, 0.8, 0.5, 0.2]

export function stepOf(p: number): number {
  const at = STEPS.findIndex((least) => p >= least)
  return at < 0 ? STEPS.length : at
}

/** How many bytes of the last character are still to come. */
function missingAfter(bytes: number[], before: number): number {
  let missing = before
  for (const byte of bytes) {
    if (byte >= 0x80 && byte < 0xc0) missing = Math.max(missing - 1, 0)
    else missing = byte < 0xc0 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
  }
  return missing
}

/** Puts characters together whose bytes came in several tokens: they count as the least sure. */
export class TokenReader {
  readonly tokens: Token[] = []
  private decoder = new TextDecoder()
  private pending = 1
  private missing = 0

  take({ token, logprob, bytes }: TokenLogprob): void {
    if (this.tokens.length > TOKENS_MAX || !Number.isFinite(logprob)) return
    const p = Math.min(Math.exp(Math.min(logprob, 0)), this.pending)
    const text = Array.isArray(bytes)
      ? this.decoder.decode(Uint8Array.from(bytes), { stream: true })
      : token
    this.missing = Array.isArray(bytes) ? missingAfter(bytes, this.missing) : 0
    this.pending = this.missing ? p : 1
    if (text) this.tokens.push({ text, p })
  }

  /** Those of this text; none where they do not make it up, such as when values were put back. */
  of(text: string): Token[] {
    if (this.tokens.length > TOKENS_MAX) return []
    const whole = this.tokens.map((one) => one.text).join('')
    return text && whole.trim() === text.trim() ? this.tokens : []
  }
}

export const leastSure = (tokens: Token[]) =>
  tokens.reduce((least, one) => (one.p < least.p && one.text.trim() ? one : least), tokens[0]!)

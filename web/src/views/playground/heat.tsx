// An answer with each token shaded by how sure the model was of it. The shades are steps, so that a
// legend can say what each means, and the doubtful ones have a line, too: colour is not all.
import { useId, useState } from 'preact/hooks'
import { t } from '../../texts'
import { percent } from '../../ui/format'
import { leastSure, stepOf, STEPS, type Token } from './tokens'

/** A line's end is a token, too. */
const shown = (text: string) => text.trim() || text.replaceAll('\n', '⏎').replaceAll(' ', '␣')

const stepName = (step: number) =>
  step < STEPS.length
    ? t('heatFrom', { least: percent(STEPS[step]!) })
    : t('heatBelow', { most: percent(STEPS.at(-1)!) })

function Legend({ word }: { word: Token | null }) {
  return (
    <div class="heat-legend">
      <ul aria-label={t('heatLegend')}>
        {[...STEPS, 0].map((_, step) => (
          <li key={step}>
            <span class={`heat-${step}`} aria-hidden="true">
              Aa
            </span>
            {stepName(step)}
          </li>
        ))}
      </ul>
      <p role="status">
        {word && (
          <>
            <bdi>{shown(word.text)}</bdi> <strong>{percent(word.p)}</strong>
          </>
        )}
      </p>
    </div>
  )
}

const MOVES: Record<string, (at: number, last: number) => number> = {
  ArrowRight: (at, last) => Math.min(at + 1, last),
  ArrowLeft: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
}

export function Heat({ tokens }: { tokens: Token[] }) {
  const id = useId()
  const [at, setAt] = useState(-1)
  const least = leastSure(tokens)
  const said = t('heatSaid', {
    count: tokens.length,
    word: shown(least.text),
    share: percent(least.p),
  })
  return (
    <div class="heat">
      <p class="heat-sentence">{said}</p>
      <div
        class="heat-text"
        dir="auto"
        role="listbox"
        aria-label={t('heatWords')}
        aria-orientation="horizontal"
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        tabIndex={0}
        onFocus={() => at < 0 && setAt(0)}
        onMouseLeave={() => setAt(-1)}
        onKeyDown={(event) => {
          const move = MOVES[event.key]
          if (!move) return
          event.preventDefault()
          setAt(move(at, tokens.length - 1))
        }}
      >
        {tokens.map((token, place) => (
          <span
            key={place}
            id={`${id}-${place}`}
            class={`heat-${stepOf(token.p)} ${place === at ? 'at' : ''}`}
            role="option"
            aria-selected={place === at}
            aria-label={`${shown(token.text)}, ${percent(token.p)}`}
            onMouseEnter={() => setAt(place)}
          >
            {token.text}
          </span>
        ))}
      </div>
      <Legend word={tokens[at] ?? null} />
    </div>
  )
}

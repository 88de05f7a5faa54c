// The weights of latency, privacy and cost as a point in a triangle (docs/policy.md, weights). A
// corner is all of one; the point's distances from the sides are the three shares.
import { useRef } from 'preact/hooks'
import { t, type TextName } from '../texts'
import { percent } from './format'
import './weights.css'

export interface Weights {
  latency: number
  privacy: number
  cost: number // their sum is 1
}

type Name = keyof Weights

const CORNERS: [Name, TextName, number, number][] = [
  ['latency', 'weightLatency', 100, 18],
  ['privacy', 'weightPrivacy', 30, 150],
  ['cost', 'weightCost', 170, 150],
]
const STEP = 0.05

const rounded = (value: number) => Math.round(value * 100) / 100

function sumOne(latency: number, privacy: number): Weights {
  const first = rounded(Math.min(Math.max(latency, 0), 1))
  const second = rounded(Math.min(Math.max(privacy, 0), 1 - first))
  return { latency: first, privacy: second, cost: rounded(1 - first - second) }
}

/** Barycentric coordinates; a point outside goes to the nearest share that there is. */
function weightsAt(x: number, y: number): Weights {
  const [[, , ax, ay], [, , bx, by], [, , cx, cy]] = CORNERS as [
    (typeof CORNERS)[0],
    (typeof CORNERS)[0],
    (typeof CORNERS)[0],
  ]
  const area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy)
  const shares = [
    ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / area,
    ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / area,
  ]
  const inside = [...shares, 1 - shares[0]! - shares[1]!].map((share) => Math.max(share, 0))
  const sum = inside.reduce((all, share) => all + share, 0)
  return sumOne(inside[0]! / sum, inside[1]! / sum)
}

/** More of one, at the cost of the two others as they stand to each other. */
function more(weights: Weights, name: Name, by: number): Weights {
  const share = Math.min(Math.max(weights[name] + by, 0), 1)
  const others = CORNERS.map(([other]) => other).filter((other) => other !== name) as [Name, Name]
  const before = weights[others[0]] + weights[others[1]]
  const first = before > 0 ? weights[others[0]] / before : 0.5
  const now: Weights = { latency: 0, privacy: 0, cost: 0, [name]: share }
  now[others[0]] = (1 - share) * first
  now[others[1]] = (1 - share) * (1 - first)
  return sumOne(now.latency, now.privacy)
}

interface Props {
  value: Weights | null // null: as the server's policy has them
  onChange: (value: Weights | null) => void
}

const MIDDLE: Weights = { latency: 0.34, privacy: 0.33, cost: 0.33 }

export function WeightsField({ value, onChange }: Props) {
  const picture = useRef<SVGSVGElement>(null)
  const now = value ?? MIDDLE
  const x = CORNERS.reduce((sum, [name, , at]) => sum + now[name] * at, 0)
  const y = CORNERS.reduce((sum, [name, , , at]) => sum + now[name] * at, 0)
  const drag = (event: PointerEvent) => {
    const box = picture.current!.getBoundingClientRect()
    onChange(
      weightsAt(
        ((event.clientX - box.left) / box.width) * 200,
        ((event.clientY - box.top) / box.height) * 172,
      ),
    )
  }
  return (
    <fieldset class="field weights">
      <legend class="name">{t('weights')}</legend>
      <svg
        ref={picture}
        viewBox="0 0 200 172"
        aria-hidden="true"
        class={value ? '' : 'unset'}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          drag(event)
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event)
        }}
      >
        <polygon points={CORNERS.map(([, , cx, cy]) => `${cx},${cy}`).join(' ')} />
        {CORNERS.map(([name, text, cx, cy]) => (
          <text key={name} x={cx} y={cy < 100 ? cy - 4 : cy + 16} text-anchor="middle">
            {t(text)}
          </text>
        ))}
        <circle cx={x} cy={y} r={9} />
      </svg>
      {CORNERS.map(([name, text]) => (
        <div key={name} class="weight">
          <span aria-hidden="true">{t(text)}</span>
          <input
            aria-label={t(text)}
            type="range"
            min={0}
            max={1}
            step={STEP}
            value={now[name]}
            onInput={(event) => onChange(more(now, name, Number(event.currentTarget.value) - now[name]))}
          />
          <output>{value ? percent(now[name]) : '–'}</output>
        </div>
      ))}
      <span class="hint">{t('weightsHint')}</span>
      {value && (
        <button type="button" class="button quiet" onClick={() => onChange(null)}>
          {t('weightsNone')}
        </button>
      )}
    </fieldset>
  )
}

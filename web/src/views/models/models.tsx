// What answers here: each tier with its model, its card and how it stands.
import { Gauge } from 'lucide-preact'
import { useState } from 'preact/hooks'
import { testTier, type Calibration, type ModelTier, type Tested } from '../../api/models'
import type { Capabilities, Tier } from '../../api/types'
import { useAsked } from '../../api/use-asked'
import { language, t, type TextName } from '../../texts'
import { Failure } from '../../ui/failure'
import { bytes, duration, money, number } from '../../ui/format'
import { Figures, Loading } from '../../ui/page'
import { PlaceBadge, placeName } from '../../ui/place'

const EVERY_MS = 10000

const CODES: Record<string, TextName> = {
  up: 'tierUp',
  no_key: 'tierNoKey',
  loading: 'tierLoading',
  resting: 'tierResting',
  unreachable: 'tierUnreachable',
}

const CAN: Record<string, TextName> = {
  tools: 'canTools',
  json_schema: 'canSchema',
  image: 'canImage',
  audio: 'canAudio',
  file: 'canFile',
  adapters: 'canAdapters',
}

function State({ tier }: { tier: Tier }) {
  const name = CODES[tier.code]
  const tone = tier.up ? 'good' : tier.code === 'no_key' ? '' : 'warn'
  return (
    <span class={`badge ${tone}`}>{name ? t(name) : t('tierDown', { code: tier.code })}</span>
  )
}

function Facts({ rows }: { rows: [string, string][] }) {
  return (
    <dl class="card-facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const parameters = (count: number) =>
  count >= 1e9 ? `${number(count / 1e9, 1)} B` : `${number(count / 1e6, 1)} M`

function factsOf(tier: ModelTier, live: Tier | undefined, calibration: Calibration) {
  const day = new Intl.DateTimeFormat(language(), { dateStyle: 'medium' })
  const version = calibration.versions.find((one) => one.version === tier.version)
  const rows: [string, string][] = []
  if (tier.file) {
    rows.push([t('modelParameters'), parameters(tier.file.parameters)])
    rows.push([t('modelSize'), `${bytes(tier.file.bytes)}, ${tier.file.quantization}`])
    rows.push([t('modelKind'), tier.file.architecture])
  } else {
    rows.push([t('modelServer'), tier.provider])
  }
  const context = live?.context_tokens ?? tier.file?.context_tokens
  if (context) rows.push([t('modelContext'), t('modelTokens', { count: number(context) })])
  const can = (live?.can ?? []).flatMap((one) => CAN[one] ?? []).map((name) => t(name))
  if (can.length) rows.push([t('modelCan'), can.join(', ')])
  if (version) {
    rows.push([t('modelSince'), day.format(version.wall_ms)])
    rows.push([t('modelAnswers'), number(version.attempts)])
  }
  if (tier.version) rows.push([t('modelVersion'), tier.version.slice(0, 8)])
  return rows
}

function Test({ tier }: { tier: string }) {
  const [busy, setBusy] = useState(false)
  const [tested, setTested] = useState<Tested | null>(null)
  const [error, setError] = useState<unknown>(null)
  const run = () => {
    setBusy(true)
    setError(null)
    setTested(null)
    testTier(tier, t('testQuestion'))
      .then(setTested, setError)
      .finally(() => setBusy(false))
  }
  return (
    <div class="tier-test">
      <button
        type="button"
        class="button"
        disabled={busy}
        aria-label={t('testOf', { tier })}
        onClick={run}
      >
        <Gauge size={16} />
        {busy ? t('testing') : t('test')}
      </button>
      <div role="status">
        {tested && (
          <p class="tested">
            <strong>{t('testAnswered', { time: duration(tested.ms) })}</strong>
            {tested.note?.cost_usd ? ` · ${money(tested.note.cost_usd)}` : ''}
            <q dir="auto">{tested.text.slice(0, 200)}</q>
          </p>
        )}
      </div>
      {error ? <Failure error={error} /> : null}
    </div>
  )
}

interface CardProps {
  tier: ModelTier
  live: Tier | undefined
  calibration: Calibration
}

function TierCard({ tier, live, calibration }: CardProps) {
  return (
    <section class="card tier-card" aria-label={tier.name}>
      <header>
        <h2>
          <bdi>{tier.model ?? tier.name}</bdi>
        </h2>
        <PlaceBadge place={tier.place}>
          {tier.name} <span class="origin-place">{placeName(tier.place)}</span>
        </PlaceBadge>
        {live && <State tier={live} />}
      </header>
      {tier.fault && <p class="note">{tier.fault}</p>}
      <Facts rows={factsOf(tier, live, calibration)} />
      <Test tier={tier.name} />
    </section>
  )
}

export function ModelsTab({ calibration }: { calibration: Calibration }) {
  const { value, error, again } = useAsked<Capabilities>('/tandem/v1/capabilities', EVERY_MS)
  if (error && !value) return <Failure error={error} onRetry={again} />
  if (!value) return <Loading />
  const ready = value.tiers.filter((tier) => tier.up).length
  const free = value.device.memory_free_bytes
  return (
    <>
      <Figures
        figures={[
          { name: t('tiersReady'), value: `${number(ready)} / ${number(value.tiers.length)}` },
          {
            name: t('memoryUsed'),
            value: bytes(calibration.memory_bytes),
            hint: t('memoryUsedHint'),
          },
          { name: t('memoryFree'), value: free === null ? '–' : bytes(free) },
          { name: t('versionsSeen'), value: number(calibration.versions.length) },
        ]}
      />
      <div class="tier-cards">
        {calibration.tiers.map((tier) => (
          <TierCard
            key={tier.name}
            tier={tier}
            live={value.tiers.find((one) => one.name === tier.name)}
            calibration={calibration}
          />
        ))}
      </div>
    </>
  )
}

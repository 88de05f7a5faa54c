// What if: recent exchanges decided again under other thresholds, without asking any model.
import { RotateCcw } from 'lucide-preact'
import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import type { Calibration } from '../../api/models'
import { useAsked } from '../../api/use-asked'
import { replay, type Means, type Replay, type TriedPolicy } from '../../api/whatif'
import { hrefOf } from '../../router'
import { t, type TextName } from '../../texts'
import { Chart } from '../../ui/chart'
import { CopyButton } from '../../ui/copy'
import { Failure } from '../../ui/failure'
import { Select } from '../../ui/field'
import { duration, money, number, percent } from '../../ui/format'
import { Empty, Figures, Loading, Page } from '../../ui/page'
import { Tabs, tabOf } from '../../ui/tabs'
import { WeightsField, type Weights } from '../../ui/weights'
import type { ViewProps } from '../../views'
import { carry } from './draft'
import { grid, isQualityKnown, keepFrom, plansOf, yamlOf, type Plan } from './front'
import { PolicyTab } from './policy'
import './whatif.css'

const WAIT_MS = 250 // after the slider has stopped
const HOUR_MS = 3600 * 1000
const SINCE: [string, TextName][] = [
  ['1', 'whatifHour'],
  ['24', 'whatifDay'],
  ['168', 'whatifWeek'],
  ['720', 'whatifMonth'],
]
const KEEP_USUAL = 0.55 // docs/thresholds.md

interface Run {
  policies: TriedPolicy[]
  result: Replay
}

interface Wish {
  chosen: TriedPolicy
  route: string
  hours: string
  early: number | null | undefined // undefined: not known yet
}

/** The chosen policy first, then those of the front. */
function useReplay({ chosen, route, hours, early }: Wish) {
  const [run, setRun] = useState<Run | null>(null)
  const [error, setError] = useState<unknown>(null)
  const wish = JSON.stringify([chosen, route, hours, early])
  useEffect(() => {
    if (early === undefined) return
    const abort = new AbortController()
    const policies = [chosen, ...grid(chosen, early)]
    const since_wall_ms = Date.now() - Number(hours) * HOUR_MS
    const timer = setTimeout(() => {
      replay({ since_wall_ms, route, policies }, abort.signal).then(
        (result) => {
          if (abort.signal.aborted) return
          setRun({ policies, result })
          setError(null)
        },
        (reason) => !abort.signal.aborted && setError(reason),
      )
    }, WAIT_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [wish])
  return { run, error }
}

interface SliderProps {
  name: string
  hint: string
  value: number | undefined // undefined: as it is now
  now: number
  onChange: (value: number | undefined) => void
}

function Slider({ name, hint, value, now, onChange }: SliderProps) {
  const id = useId()
  const shown = value ?? now
  return (
    <div class="slider">
      <label for={id}>{name}</label>
      <output for={id}>{value === undefined ? t('whatifAsNow') : percent(shown)}</output>
      <input
        id={id}
        type="range"
        min={0}
        max={1}
        step={0.01}
        value={shown}
        aria-describedby={`${id}-hint`}
        aria-valuetext={percent(shown)}
        onInput={(event) => onChange(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="button quiet icon"
        title={t('whatifReset')}
        aria-label={`${t('whatifReset')}: ${name}`}
        disabled={value === undefined}
        onClick={() => onChange(undefined)}
      >
        <RotateCcw size={15} />
      </button>
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    </div>
  )
}

const or = (value: number | null, text: (value: number) => string) =>
  value === null ? '–' : text(value)

function Outcome({ result }: { result: Replay }) {
  const after = result.after[0]!
  const now = (value: number | null, text: (value: number) => string) =>
    t('whatifNow', { value: or(value, text) })
  const cost = (value: number) => money(value * 1000)
  const figure = (name: TextName, key: keyof Means, text: (value: number) => string) => ({
    name: t(name),
    value: or(after[key], text),
    hint: now(key === 'right' ? after.right_before : result.before[key], text),
  })
  return (
    <Figures
      figures={[
        figure('whatifCost', 'cost_usd', cost),
        figure('whatifTime', 'ms', duration),
        figure('whatifLocal', 'share_local', percent),
        isQualityKnown(result)
          ? figure('whatifRight', 'right', percent)
          : { name: t('whatifRight'), value: '–', hint: t('whatifRightUnknown') },
      ]}
    />
  )
}

function Front({ run }: { run: Run }) {
  const plans = useMemo(() => plansOf(run.policies, run.result.after), [run])
  const values = (of: (plan: Plan) => boolean) =>
    plans.map((plan) => (of(plan) ? plan.right : null))
  const least = Math.min(...plans.map((plan) => plan.right))
  const label = plans
    .filter((plan) => plan.best)
    .map((plan) => `${money(plan.cost)}: ${percent(plan.right)}`)
    .join(', ')
  return (
    <Chart
      label={`${t('front')}: ${label}`}
      x={plans.map((plan) => plan.cost)}
      xName={t('whatifCost')}
      xFormat={money}
      format={percent}
      yMin={Math.floor(least * 10) / 10}
      yMax={1}
      height={260}
      series={[
        { name: t('frontOther'), values: values(() => true), color: '--muted', points: true },
        { name: t('frontBest'), values: values((plan) => plan.best), color: '--accent', points: true },
        {
          name: t('frontChosen'),
          values: values((plan) => plan.policy === run.policies[0]),
          color: '--cloud',
          points: true,
        },
      ]}
    />
  )
}

/** Where nobody knows how right answers are: what stays, by threshold. */
function Stays({ run }: { run: Run }) {
  const [chosen, ...tried] = run.policies
  const x = tried.map((policy) => policy.confidence_min ?? 0)
  const shares = run.result.after.slice(1).map((one) => one.share_local)
  const mine = chosen?.confidence_min
  const nearest = x.findIndex((value) => mine !== undefined && Math.abs(value - mine) <= 0.025)
  return (
    <Chart
      label={`${t('whatifLocal')}: ${shares.map((share) => or(share, percent)).join(', ')}`}
      x={x}
      xName={t('knobKeepShort')}
      xFormat={percent}
      format={percent}
      yMin={0}
      yMax={1}
      height={260}
      series={[
        { name: t('whatifLocal'), values: shares, color: '--accent', fill: true },
        {
          name: t('frontChosen'),
          values: shares.map((share, at) => (at === nearest ? share : null)),
          color: '--cloud',
          points: true,
        },
      ]}
    />
  )
}

function Curve({ run }: { run: Run }) {
  const known = isQualityKnown(run.result)
  return (
    <figure class="card chart-card">
      <figcaption>
        <h2>{t(known ? 'front' : 'stays')}</h2>
        <p class="hint">{t(known ? 'frontText' : 'staysText')}</p>
      </figcaption>
      {known ? <Front run={run} /> : <Stays run={run} />}
    </figure>
  )
}

function Export({ route, chosen }: { route: string; chosen: TriedPolicy }) {
  const yaml = yamlOf(route, chosen)
  const same = Object.keys(chosen).length === 0
  return (
    <section class="card export" aria-label={t('export')}>
      <header class="section-head">
        <h2>{t('export')}</h2>
        {!same && <CopyButton text={() => yaml} />}
      </header>
      {same ? (
        <p class="hint">{t('exportNothing')}</p>
      ) : (
        <>
          <pre tabIndex={0}>{yaml}</pre>
          <p class="hint">{t('exportText')}</p>
          <a class="button" href={hrefOf('whatif', 'policy')} onClick={() => carry(route, yaml)}>
            {t('exportEdit')}
          </a>
        </>
      )}
    </section>
  )
}

function Result({ run, route }: { run: Run; route: string }) {
  const { result } = run
  if (!result.exchanges) return <Empty>{t('whatifEmpty')}</Empty>
  const after = result.after[0]!
  return (
    <>
      <p class="hint" role="status">
        {t('whatifOver', { count: number(result.exchanges), changed: number(after.start_changed) })}
        {after.refused > 0 && ` ${t('whatifRefused', { count: number(after.refused) })}`}
      </p>
      <Outcome result={result} />
      <Curve run={run} />
      <Export route={route} chosen={run.policies[0]!} />
    </>
  )
}

function Sliders() {
  const calibration = useAsked<Calibration>('/tandem/v1/calibration?since_wall_ms=9999999999999')
  const [chosen, setChosen] = useState<TriedPolicy>({})
  const [route, setRoute] = useState('auto')
  const [hours, setHours] = useState('24')
  const { routes, tiers } = calibration.value ?? { routes: [], tiers: [] }
  const early = routes.find((one) => one.name === route)?.early_min
  const { run, error } = useReplay({ chosen, route, hours, early })
  const keep = (value: number | undefined) => {
    const { confidence_min: _, early_min: __, ...rest } = chosen
    setChosen(value === undefined ? rest : keepFrom(rest, value, early ?? null))
  }
  const start = (value: number | undefined) => {
    const { p_local_under: _, ...rest } = chosen
    setChosen(value === undefined ? rest : { ...rest, p_local_under: value })
  }
  const weigh = (value: Weights | null) => {
    const { weights: _, ...rest } = chosen
    setChosen(value ? { ...rest, weights: value } : rest)
  }
  return (
    <>
      <div class="card knobs">
        <div class="inline row">
          {routes.length > 1 && (
            <Select
              name={t('whatifRoute')}
              value={route}
              choices={routes.map(({ name }) => ({ value: name, name }))}
              onChange={setRoute}
            />
          )}
          <Select
            name={t('whatifSince')}
            value={hours}
            choices={SINCE.map(([value, name]) => ({ value, name: t(name) }))}
            onChange={setHours}
          />
        </div>
        <div class="gates">
          <Slider
            name={t('knobKeep')}
            hint={t('knobKeepHint')}
            value={chosen.confidence_min}
            now={tiers.find((tier) => tier.place === 'device')?.kept_from ?? KEEP_USUAL}
            onChange={keep}
          />
          <Slider
            name={t('knobStart')}
            hint={t('knobStartHint')}
            value={chosen.p_local_under}
            now={0}
            onChange={start}
          />
        </div>
        <WeightsField value={chosen.weights ?? null} onChange={weigh} />
      </div>
      {error ?? calibration.error ? <Failure error={error ?? calibration.error} /> : null}
      {run ? (
        <Result run={run} route={route} />
      ) : (
        !error && !calibration.error && <Loading />
      )}
    </>
  )
}

export default function WhatIf({ rest }: ViewProps) {
  const tabs = [
    { rest: '', name: t('whatifTab') },
    { rest: 'policy', name: t('policyTab') },
  ]
  const policy = tabOf(tabs, rest).rest === 'policy'
  return (
    <Page title={t('whatif')} text={t(policy ? 'policyLead' : 'whatifLead')}>
      <Tabs label={t('whatif')} view="whatif" rest={rest} tabs={tabs} />
      <div class="sections stack">{policy ? <PolicyTab /> : <Sliders />}</div>
    </Page>
  )
}

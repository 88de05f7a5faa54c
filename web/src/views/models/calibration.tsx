// What the confidence of the device's answers is worth: reliability, and risk by what stays.
import { useMemo, useState } from 'preact/hooks'
import type { Calibration, JudgedBy, ModelTier, Watched } from '../../api/models'
import { useAsked } from '../../api/use-asked'
import { t, type TextName } from '../../texts'
import { Chart } from '../../ui/chart'
import { Command } from '../../ui/copy'
import { Select } from '../../ui/field'
import { number, percent } from '../../ui/format'
import { Empty, Figures, Table } from '../../ui/page'
import { PlaceBadge } from '../../ui/place'
import { best, reliability, riskCurve, type Bin, type Point } from './curves'
import { Measure } from './measure'

const PSI_DRIFTS = 0.25 // docs/thresholds.md: where the alarm begins
const PSI_ALIKE = 0.1
const RISKS = ['0.02', '0.05', '0.1']

const JUDGED: Record<JudgedBy, TextName> = {
  calibration: 'judgedCalibration',
  confidence_model: 'judgedModel',
  file: 'judgedFile',
  rule: 'judgedRule',
  nothing: 'judgedNothing',
}

/** Of a calibration: what may be kept at each risk. */
const thresholds = (tier: ModelTier) =>
  tier.thresholds
    .map(
      ({ risk, threshold }) =>
        `${percent(risk)}: ${threshold === null ? t('thresholdNone') : number(threshold, 2)}`,
    )
    .join(' · ') || '–'

function Judges({ tiers }: { tiers: ModelTier[] }) {
  return (
    <Table
      caption={t('judges')}
      rows={tiers}
      rowKey={(tier) => tier.name}
      columns={[
        {
          name: t('judgesTier'),
          cell: (tier) => <PlaceBadge place={tier.place}>{tier.name}</PlaceBadge>,
        },
        { name: t('judgesBy'), cell: (tier) => t(JUDGED[tier.judged_by] ?? 'judgedRule') },
        {
          name: t('judgesSamples'),
          number: true,
          cell: (tier) => (tier.samples === null ? '–' : number(tier.samples)),
        },
        { name: t('judgesRisks'), number: true, cell: thresholds },
        {
          name: t('judgesThreshold'),
          number: true,
          cell: (tier) => (tier.kept_from === null ? '–' : number(tier.kept_from, 2)),
        },
      ]}
    />
  )
}

function Reliability({ bins }: { bins: Bin[] }) {
  const count = bins.reduce((sum, bin) => sum + bin.count, 0)
  const off = bins.reduce((sum, bin) => sum + bin.count * Math.abs(bin.confidence - bin.right), 0)
  return (
    <figure class="card chart-card">
      <figcaption>
        <h3>{t('reliability')}</h3>
        <p class="hint">{t('reliabilityText', { off: percent(off / count) })}</p>
      </figcaption>
      <Chart
        label={t('reliabilityLabel', { off: percent(off / count), count: number(count) })}
        x={bins.map((bin) => bin.confidence)}
        xName={t('confidence')}
        xFormat={percent}
        format={percent}
        yMin={0}
        yMax={1}
        height={230}
        series={[
          {
            name: t('reliabilityRight'),
            values: bins.map((bin) => bin.right),
            color: '--accent',
            points: bins.length < 3,
          },
          {
            name: t('reliabilityIdeal'),
            values: bins.map((bin) => bin.confidence),
            color: '--muted',
            dashed: true,
          },
        ]}
      />
    </figure>
  )
}

function Risk({ points, risk }: { points: Point[]; risk: number }) {
  const most = best(points, risk)
  const text = most
    ? t('riskHolds', {
        risk: percent(risk),
        kept: percent(most.kept),
        threshold: number(most.threshold, 2),
      })
    : t('riskNone', { risk: percent(risk), least: number(Math.ceil(1 / risk) - 1) })
  return (
    <figure class="card chart-card">
      <figcaption>
        <h3>{t('risk')}</h3>
        <p class="hint">{text}</p>
      </figcaption>
      <Chart
        label={`${t('risk')}: ${text}`}
        x={points.map((point) => point.kept)}
        xName={t('riskKept')}
        xFormat={percent}
        format={percent}
        yMin={0}
        height={230}
        series={[
          {
            name: t('riskWrong'),
            values: points.map((point) => point.wrong),
            color: '--accent',
            points: points.length < 3,
          },
          {
            name: t('riskAsked'),
            values: points.map(() => risk),
            color: '--warn',
            dashed: true,
          },
        ]}
      />
    </figure>
  )
}

function drift(psi: number): string {
  return t(psi >= PSI_DRIFTS ? 'driftFar' : psi >= PSI_ALIKE ? 'driftSome' : 'driftNone')
}

function offText(off: number | null): string {
  if (off === null) return t('offNone')
  return t(Math.abs(off) < 0.005 ? 'offRight' : off > 0 ? 'offOver' : 'offUnder')
}

function Watch({ calibration }: { calibration: Calibration }) {
  const { value } = useAsked<Watched>('/tandem/v1/alarms')
  const judged = calibration.answers.filter((row) => row[1] !== null).length
  const off = value?.calibration_error ?? null
  const left = value?.escalation_share ?? null
  return (
    <Figures
      figures={[
        {
          name: t('answersJudged'),
          value: number(judged),
          hint: t('answersOf', { count: number(calibration.answers.length) }),
        },
        {
          name: t('off'),
          value: off === null ? '–' : percent(Math.abs(off)),
          hint: offText(off),
        },
        {
          name: t('drift'),
          value: value ? number(value.score_psi, 2) : '–',
          hint: value ? drift(value.score_psi) : '',
        },
        { name: t('escalated'), value: left === null ? '–' : percent(left), hint: t('escalatedHint') },
      ]}
    />
  )
}

interface TabProps {
  calibration: Calibration
  again: () => void
}

export function CalibrationTab({ calibration, again }: TabProps) {
  const [risk, setRisk] = useState(String(calibration.routes[0]?.risk ?? 0.05))
  const bins = useMemo(() => reliability(calibration.answers), [calibration.answers])
  const points = useMemo(() => riskCurve(calibration.answers), [calibration.answers])
  const local = calibration.tiers.find((tier) => tier.place === 'device')
  return (
    <>
      <Watch calibration={calibration} />
      <section class="stack">
        <div class="section-head inline">
          <h2>{t('worth')}</h2>
          <Select
            name={t('riskAsked')}
            value={risk}
            choices={RISKS.map((value) => ({ value, name: percent(Number(value)) }))}
            onChange={setRisk}
          />
        </div>
        {bins.length ? (
          <div class="charts">
            <Reliability bins={bins} />
            <Risk points={points} risk={Number(risk)} />
          </div>
        ) : (
          <Empty>{t('worthEmpty')}</Empty>
        )}
      </section>
      <section class="stack">
        <h2>{t('judges')}</h2>
        <Judges tiers={calibration.tiers} />
      </section>
      <section class="stack">
        <h2>{t('calibrate')}</h2>
        <p class="lead">{t('calibrateText')}</p>
        <Measure tiers={calibration.tiers} onUsed={again} />
        <p class="hint">{t('calibrateElsewhere')}</p>
        <Command text={`tandem calibrate -m ${local?.model ?? 'model'}.gguf`} />
      </section>
    </>
  )
}

// How alike tiers answer, and the ramps that move users from one to another.
import { useState } from 'preact/hooks'
import { restartRamp, type Ramp, type Shadow } from '../../api/models'
import { useAsked } from '../../api/use-asked'
import { language, t, type TextName } from '../../texts'
import { Failure } from '../../ui/failure'
import { money, number, percent } from '../../ui/format'
import { Empty, Loading, Table } from '../../ui/page'

const EVIDENCE: Record<string, TextName> = {
  agreement: 'evidenceAgreement',
  outcomes: 'evidenceOutcomes',
  feedback: 'evidenceFeedback',
}

function Shadows({ shadows }: { shadows: Shadow[] }) {
  if (!shadows.length) return <Empty>{t('shadowsEmpty')}</Empty>
  return (
    <Table
      caption={t('shadows')}
      rows={shadows}
      rowKey={(one) => `${one.tier} ${one.shadow}`}
      columns={[
        { name: t('shadowAnswered'), cell: (one) => <bdi>{one.tier ?? '–'}</bdi> },
        { name: t('shadowBeside'), cell: (one) => <bdi>{one.shadow}</bdi> },
        { name: t('shadowCompared'), number: true, cell: (one) => number(one.compared) },
        {
          name: t('shadowSame'),
          number: true,
          cell: (one) => (one.same_share === null ? '–' : percent(one.same_share)),
        },
        {
          name: t('shadowInterval'),
          number: true,
          cell: (one) =>
            one.same_low === null || one.same_high === null
              ? '–'
              : `${percent(one.same_low)} – ${percent(one.same_high)}`,
        },
        { name: t('shadowFailed'), number: true, cell: (one) => number(one.failed) },
        { name: t('cost'), number: true, cell: (one) => money(one.cost_usd ?? 0) },
      ]}
    />
  )
}

function RampCard({ ramp, onRestart }: { ramp: Ramp; onRestart: () => void }) {
  const when = new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'short' })
  const cause = ramp.cause ? EVIDENCE[ramp.cause] : undefined
  return (
    <section class="card ramp" aria-label={ramp.route}>
      <header>
        <h3>
          <bdi>{ramp.route}</bdi>
        </h3>
        <span class={`badge ${ramp.stopped ? 'bad' : 'good'}`}>
          {t(ramp.stopped ? 'rampStopped' : 'rampRuns')}
        </span>
      </header>
      <p>{t('rampText', { share: percent(ramp.percent / 100), tier: ramp.to })}</p>
      <span class="meter wide" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(100, Math.max(0, ramp.percent))}%` }} />
      </span>
      <p class="hint">
        {t('rampStep', { step: ramp.step, steps: ramp.steps })} ·{' '}
        {t('rampChanged', { time: when.format(new Date(ramp.changed)) })}
      </p>
      {ramp.stopped && cause && <p>{t('rampCause', { cause: t(cause) })}</p>}
      <ul class="evidence">
        {Object.entries(ramp.evidence).map(([name, one]) => (
          <li key={name}>
            {EVIDENCE[name] ? t(EVIDENCE[name]) : name}: {t('rampJudged', { count: number(one.judged) })}
            {one.loss !== null && `, ${t('rampLoss', { loss: percent(one.loss) })}`}
          </li>
        ))}
      </ul>
      <button type="button" class="button" onClick={onRestart}>
        {t('rampRestart')}
      </button>
    </section>
  )
}

export function RolloutTab() {
  const shadows = useAsked<{ data: Shadow[] }>('/tandem/v1/shadows')
  const ramps = useAsked<{ data: Ramp[] }>('/tandem/v1/ramps')
  const [failed, setFailed] = useState<unknown>(null)
  const restart = (route: string) => {
    setFailed(null)
    restartRamp(route).then(ramps.again, setFailed)
  }
  const error = shadows.error ?? ramps.error
  if (error) return <Failure error={error} onRetry={() => (shadows.again(), ramps.again())} />
  if (!shadows.value || !ramps.value) return <Loading />
  return (
    <>
      <section class="stack">
        <h2>{t('shadows')}</h2>
        <p class="lead">{t('shadowsText')}</p>
        <Shadows shadows={shadows.value.data} />
      </section>
      <section class="stack">
        <h2>{t('ramps')}</h2>
        <p class="lead">{t('rampsText')}</p>
        {failed ? <Failure error={failed} /> : null}
        {ramps.value.data.length ? (
          <div class="tier-cards">
            {ramps.value.data.map((ramp) => (
              <RampCard key={ramp.route} ramp={ramp} onRestart={() => restart(ramp.route)} />
            ))}
          </div>
        ) : (
          <Empty>{t('rampsEmpty')}</Empty>
        )}
      </section>
    </>
  )
}

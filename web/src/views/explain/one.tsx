// One exchange: who answered, the ladder, the time line, what left the device.
import { ArrowLeft, Info } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { ApiError } from '../../api/client'
import { onePath, type Exchange } from '../../api/explain'
import { useAsked } from '../../api/use-asked'
import { hrefOf } from '../../router'
import { t } from '../../texts'
import { CopyButton } from '../../ui/copy'
import { DataClassName } from '../../ui/data-class'
import { Failure } from '../../ui/failure'
import { bytes, duration, money, percent } from '../../ui/format'
import { Empty, Figures, Loading, Page } from '../../ui/page'
import { placeName, PlaceBadge } from '../../ui/place'
import { clockTime } from '../../ui/time'
import { Left } from './left'
import { Rungs } from './rungs'
import { TimeLine } from './timeline'
import { kindName } from '../../ui/egress-words'
import { decidedBy } from './words'
import { ReasonText, said } from '../../ui/said'

export function Part({ title, hint, children }: PartProps) {
  return (
    <section class="explain-part">
      <h2>{title}</h2>
      {hint && <p class="explain-hint">{hint}</p>}
      {children}
    </section>
  )
}

interface PartProps {
  title: string
  hint?: string
  children: ComponentChildren
}

const leftBytes = (exchange: Exchange) =>
  exchange.attempts.reduce((sum, attempt) => sum + attempt.egress_bytes, 0)

function Summary({ exchange }: { exchange: Exchange }) {
  const { tier, place, model, confidence, cost_usd, all_cloud_cost_usd } = exchange
  const left = leftBytes(exchange)
  return (
    <>
      <Figures
        figures={[
          {
            name: t('explainBy'),
            value:
              tier && place ? <PlaceBadge place={place}>{tier}</PlaceBadge> : t('explainNobody'),
            hint: tier && place ? [placeName(place), model].filter(Boolean).join(' · ') : undefined,
          },
          {
            name: t('confidence'),
            value: confidence === null ? '–' : percent(confidence),
            hint: confidence === null ? t('confidenceNone') : undefined,
          },
          {
            name: t('explainTook'),
            value: duration(exchange.total_ms ?? 0),
            hint: exchange.ttft_ms
              ? t('explainFirst', { time: duration(exchange.ttft_ms) })
              : undefined,
          },
          {
            name: t('cost'),
            value: money(cost_usd ?? 0),
            hint: all_cloud_cost_usd
              ? t('explainInCloud', { cost: money(all_cloud_cost_usd) })
              : undefined,
          },
          {
            name: t('dataClass'),
            value: exchange.data_class ? <DataClassName value={exchange.data_class} /> : '–',
            hint: Object.keys(exchange.signals?.findings ?? {})
              .map(kindName)
              .join(', '),
          },
          { name: t('left'), value: left ? bytes(left) : t('leftNothing') },
        ]}
      />
      {exchange.disclosure && (
        <div class="note">
          <Info size={17} />
          <p>{said(exchange.disclosure)}</p>
        </div>
      )}
    </>
  )
}

/** Why it began where it did, and what would have changed that. */
function Decision({ exchange }: { exchange: Exchange }) {
  const decision = exchange.signals?.decision
  if (!decision?.by) return null
  return (
    <Part title={t('explainStart')}>
      <p>
        {decision.start
          ? t('explainBegan', { tier: decision.start, why: decidedBy(decision.by) })
          : decidedBy(decision.by)}
        {decision.rule && ` ${t('explainRule', { rule: decision.rule })}`}
        {decision.runner_up && ` ${t('explainNext', { tier: decision.runner_up })}`}
      </p>
      {decision.flip && <p>{t('explainFlip', { what: said(decision.flip) })}</p>}
    </Part>
  )
}

function Reasons({ exchange }: { exchange: Exchange }) {
  if (!exchange.reasons?.length) return null
  return (
    <details class="explain-all">
      <summary>{t('explainReasons', { count: exchange.reasons.length })}</summary>
      <ol>
        {exchange.reasons.map((reason, at) => (
          <li key={at}>
            <ReasonText reason={reason} />
          </li>
        ))}
      </ol>
    </details>
  )
}

/** Where the server stores texts. */
function Texts({ exchange }: { exchange: Exchange }) {
  if (exchange.prompt === undefined && exchange.answer === undefined) return null
  return (
    <Part title={t('explainTexts')} hint={t('explainTextsHint')}>
      {exchange.prompt !== undefined && <pre dir="auto" tabIndex={0}>{exchange.prompt}</pre>}
      {exchange.answer !== undefined && <pre dir="auto" tabIndex={0}>{exchange.answer}</pre>}
    </Part>
  )
}

function Beside({ exchange }: { exchange: Exchange }) {
  const { shadows, same_trace: trace } = exchange
  return (
    <>
      {shadows.length > 0 && (
        <Part title={t('explainShadows')} hint={t('explainShadowsHint')}>
          <ul class="explain-list">
            {shadows.map((shadow, at) => (
              <li key={at}>
                {t(
                  shadow.agreement === null
                    ? 'explainShadowNone'
                    : shadow.same
                      ? 'explainShadowSame'
                      : 'explainShadowOther',
                  {
                    tier: shadow.tier,
                    time: duration(shadow.total_ms),
                    cost: money(shadow.cost_usd),
                  },
                )}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {trace.length > 0 && (
        <Part title={t('explainTrace')}>
          <ul class="explain-list">
            {trace.map((id) => (
              <li key={id}>
                <a href={hrefOf('explain', id)}>{id}</a>
              </li>
            ))}
          </ul>
        </Part>
      )}
    </>
  )
}

function Whole({ exchange }: { exchange: Exchange }) {
  return (
    <>
      <Summary exchange={exchange} />
      <Part title={t('explainLadder')} hint={t('explainLadderHint')}>
        <Rungs exchange={exchange} />
        <Reasons exchange={exchange} />
      </Part>
      <Decision exchange={exchange} />
      {exchange.attempts.length > 0 && (
        <Part title={t('explainTime')}>
          <TimeLine exchange={exchange} />
        </Part>
      )}
      <Part title={t('explainLeft')}>
        <Left exchange={exchange} bytesLeft={leftBytes(exchange)} />
      </Part>
      <Beside exchange={exchange} />
      <Texts exchange={exchange} />
    </>
  )
}

function Gone() {
  return (
    <Empty>
      <p>{t('explainGone')}</p>
      <a class="button" href={hrefOf('explain')}>
        {t('explainAll')}
      </a>
    </Empty>
  )
}

export function One({ id }: { id: string }) {
  const { value, error, again } = useAsked<Exchange>(onePath(id))
  const gone = error instanceof ApiError && error.status === 404
  return (
    <Page
      title={t('explainOne')}
      text={
        <>
          {value && `${clockTime(value.wall_ms)} · ${value.route ?? ''} · `}
          <code class="explain-id">{value?.id ?? id}</code>
          <CopyButton text={() => value?.id ?? id} label={t('explainCopyId')} />
        </>
      }
      actions={
        <a class="button" href={hrefOf('explain')}>
          <ArrowLeft size={16} class="explain-back" />
          {t('explainAll')}
        </a>
      }
    >
      {gone ? <Gone /> : error ? <Failure error={error} onRetry={again} /> : null}
      {value ? <Whole exchange={value} /> : !error && <Loading />}
    </Page>
  )
}


// Live: what happens now. Sums and times are of the last hour, as far as this page knows it.
import { Pause, Play } from 'lucide-preact'
import { useRef, useState } from 'preact/hooks'
import type { LiveAlarm, LiveExchange } from '../../api/live'
import { ApiError } from '../../api/client'
import { hrefOf } from '../../router'
import { t } from '../../texts'
import { Failure } from '../../ui/failure'
import { duration, money, number, percent } from '../../ui/format'
import { Empty, Figures, Page, type Figure } from '../../ui/page'
import { clockTime } from '../../ui/time'
import { DevicePanel, TierPanel } from './panels'
import './live.css'
import { LiveTable } from './rows'
import { Shares } from './shares'
import { sumOf, type Left, type LiveModel, type Sums } from './model'
import { useLive, type Live } from './use-live'
import { ReasonText } from '../../ui/said'

const RANKS = [0.5, 0.95, 0.99]

function figuresOf(sums: Sums, model: LiveModel): Figure[] {
  const times = model.percentiles(RANKS)
  return [
    { name: t('liveExchanges'), value: number(sums.count), hint: t('liveLastHour') },
    {
      name: t('liveOnDevice'),
      value: sums.answered ? percent(sums.device / sums.answered) : '–',
      hint: t('liveOfAnswers', { count: number(sums.answered) }),
    },
    {
      name: t('liveHalf'),
      value: times ? duration(times[0]!) : '–',
      hint: times ? t('liveTails', { p95: duration(times[1]!), p99: duration(times[2]!) }) : '',
    },
    { name: t('liveSpent'), value: money(sums.spent), hint: t('liveLastHour') },
    { name: t('liveSaved'), value: money(Math.max(sums.saved, 0)), hint: t('liveSavedHint') },
  ]
}

function Alarms({ alarms }: { alarms: LiveAlarm[] }) {
  if (!alarms.length) return null
  return (
    <section class="note bad live-alarms" aria-labelledby="live-alarms">
      <div>
        <h2 id="live-alarms">{t('liveAlarms', { count: alarms.length })}</h2>
        <ul>
          {alarms.map((alarm, at) => (
            <li key={at}>
              <bdi>{alarm.text}</bdi> <span>{t('liveSince', { time: clockTime(alarm.begun) })}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}

function Leavings({ leavings }: { leavings: Left[] }) {
  return (
    <section class="card live-card">
      <h2>{t('liveLeft')}</h2>
      {leavings.length === 0 && <p class="live-none">{t('liveLeftNone')}</p>}
      <ol class="live-left">
        {leavings.map((left, at) => (
          <li key={`${left.id} ${at}`}>
            <a href={hrefOf('explain', left.id)}>{clockTime(left.wall_ms)}</a>
            <strong>
              {left.to ? t('liveFromTo', { from: left.from, to: left.to }) : left.from}
            </strong>
            <span>
              <ReasonText reason={left} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** The rows of the moment when the list was halted; null: it runs. */
function useHalt(model: LiveModel) {
  const [halted, setHalted] = useState<LiveExchange[] | null>(null)
  const toggle = () => setHalted(halted ? null : model.rows.slice())
  return { rows: halted ?? model.rows, halted: halted !== null, toggle }
}

function Connection({ live }: { live: Live }) {
  const never = useRef(true)
  if (live.connected) never.current = false
  const lost = !live.connected && (!never.current || live.error)
  return (
    <span role="status" class={`badge ${live.connected ? 'good' : lost ? 'bad' : ''}`}>
      {t(live.connected ? 'liveConnected' : lost ? 'liveLost' : 'loading')}
    </span>
  )
}

function Whole({ live }: { live: Live }) {
  const { model, earlier, partial } = live
  const { state } = model
  const { rows, halted, toggle } = useHalt(model)
  const minutes = model.hour(state?.at ?? Date.now())
  const sums = sumOf(minutes)
  return (
    <>
      {state?.alarms && <Alarms alarms={state.alarms} />}
      <Figures figures={figuresOf(sums, model)} />
      <Shares minutes={minutes} sums={sums} places={model.places} />
      <div class="live-panels">
        {state && <TierPanel tiers={state.tiers} sums={sums} model={model} />}
        {state?.device && <DevicePanel state={state} device={state.device} />}
      </div>
      <Leavings leavings={model.leavings} />
      <section class="live-last">
        <header>
          <h2>{t('liveLast')}</h2>
          {rows.length > 0 && (
            <button type="button" class="button quiet" aria-pressed={halted} onClick={toggle}>
              {halted ? <Play size={15} /> : <Pause size={15} />}
              {t(halted ? 'liveGoOn' : 'liveHalt')}
            </button>
          )}
        </header>
        {rows.length > 0 ? (
          <LiveTable rows={rows} />
        ) : (
          earlier && (
            <Empty>
              <p>{t('liveNone')}</p>
              <a class="button" href={hrefOf('playground')}>
                {t('playground')}
              </a>
            </Empty>
          )
        )}
      </section>
      {partial && <p class="live-none">{t('livePartial')}</p>}
      {state && state.left_out > 0 && (
        <p class="live-none">{t('liveLeftOut', { count: number(state.left_out) })}</p>
      )}
    </>
  )
}

export default function LiveView() {
  const live = useLive()
  const { error } = live
  const refused = error instanceof ApiError && error.status > 0
  return (
    <Page title={t('live')} text={t('liveText')} actions={<Connection live={live} />}>
      {refused && <Failure error={error} />}
      <Whole live={live} />
    </Page>
  )
}

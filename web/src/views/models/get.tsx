// Models that this machine can run: which fit, and the one that is being pulled. The server pulls,
// so the page may be closed meanwhile.
import { Check, Download, Star, X } from 'lucide-preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  beginPull,
  chooseDefault,
  endPull,
  PULL,
  STORE,
  type Pull,
  type Store,
  type StoreModel,
} from '../../api/store'
import { useAsked } from '../../api/use-asked'
import { t } from '../../texts'
import { Command } from '../../ui/copy'
import { Failure } from '../../ui/failure'
import { bytes, duration, number, percent } from '../../ui/format'
import { Loading, Table, type Column } from '../../ui/page'

const EVERY_MS = 1000
const RATE_MS = 8000 // the time left is by the speed of so long

/** How long it will take, by the speed of the last seconds; null until that is known. */
function useTimeLeft(pull: Pull | null): number | null {
  const seen = useRef<[number, number][]>([])
  const { bytes: now, total, event } = pull?.last ?? {}
  if (pull?.state !== 'running' || event !== 'progress' || now === undefined) {
    seen.current = []
    return null
  }
  const at = performance.now()
  if (seen.current.at(-1)?.[1] !== now) seen.current.push([at, now])
  while (seen.current.length > 2 && at - seen.current[0]![0] > RATE_MS) seen.current.shift()
  const [since, from] = seen.current[0]!
  const speed = (now - from) / (at - since)
  return total && speed > 0 && at - since > EVERY_MS ? (total - now) / speed : null
}

function Progress({ pull }: { pull: Pull }) {
  const left = useTimeLeft(pull)
  const { bytes: now, total, event, resumed_bytes: resumed } = pull.last ?? {}
  const checking = event === 'checking'
  const words = [
    now !== undefined && total ? t('pullOf', { now: bytes(now), total: bytes(total) }) : '',
    now !== undefined && total ? percent(now / total) : '',
    left === null ? '' : t('pullLeft', { time: duration(Math.ceil(left / 1000) * 1000) }),
    resumed ? t('pullResumed', { bytes: bytes(resumed) }) : '',
  ]
  return (
    <>
      <progress
        aria-label={t(checking ? 'pullChecking' : 'pulling', { model: pull.model ?? '' })}
        max={total || 1}
        value={total ? now : undefined}
      />
      <p class="hint">
        {checking ? `${t('pullCheckingHint')} ` : pull.last ? '' : t('pullAsking')}
        {words.filter(Boolean).join(' · ')}
      </p>
    </>
  )
}

interface DoneProps {
  name: string
  isDefault: boolean
  onDefault: () => void
}

function Done({ name, isDefault, onDefault }: DoneProps) {
  return (
    <>
      {isDefault ? (
        <p>{t('pullIsDefault')}</p>
      ) : (
        <button type="button" class="button main" onClick={onDefault}>
          <Star size={16} />
          {t('pullMakeDefault')}
        </button>
      )}
      <p class="hint">{t('pullServe')}</p>
      <Command text={`tandem serve -m ${name}`} />
    </>
  )
}

interface PanelProps {
  pull: Pull
  store: Store
  act: (what: Promise<unknown>) => void
}

function Panel({ pull, store, act }: PanelProps) {
  const name = pull.last?.name ?? ''
  const model = pull.model ?? ''
  const title = {
    none: '',
    running: t('pulling', { model }),
    done: t('pullDone', { model }),
    failed: t('pullFailed', { model }),
    cancelled: t('pullCancelled', { model }),
  }[pull.state]
  return (
    <section class="card stack pull" aria-label={title}>
      <div role="status">
        <h2>
          <bdi>{title}</bdi>
        </h2>
      </div>
      {pull.state === 'running' && (
        <>
          <Progress pull={pull} />
          <button type="button" class="button" onClick={() => act(endPull())}>
            <X size={16} />
            {t('cancel')}
          </button>
        </>
      )}
      {pull.error && pull.state === 'failed' && <p class="note bad">{pull.error}</p>}
      {(pull.state === 'failed' || pull.state === 'cancelled') && (
        <button type="button" class="button" onClick={() => act(beginPull(model))}>
          <Download size={16} />
          {t('pullGoOn')}
        </button>
      )}
      {pull.state === 'done' && (
        <Done
          name={name}
          isDefault={store.default === name}
          onDefault={() => act(chooseDefault(name))}
        />
      )}
    </section>
  )
}

const LACKS = { memory: 'storeNoMemory', disk: 'storeNoDisk' } as const

function columns(store: Store, running: boolean, act: PanelProps['act']): Column<StoreModel>[] {
  const state = (model: StoreModel) => {
    if (model.name === store.default) return <span class="badge good">{t('storeDefault')}</span>
    if (model.downloaded)
      return (
        <button
          type="button"
          class="button"
          aria-label={t('storeMakeDefault', { model: model.name })}
          onClick={() => act(chooseDefault(model.name))}
        >
          {t('storeUse')}
        </button>
      )
    if (model.lacks) return <span class="hint">{t(LACKS[model.lacks])}</span>
    return (
      <button
        type="button"
        class={`button ${model.name === store.best ? 'main' : ''}`}
        disabled={running}
        aria-label={t('pullOne', { model: model.name })}
        onClick={() => act(beginPull(model.name))}
      >
        <Download size={16} />
        {t('pull')}
      </button>
    )
  }
  return [
    {
      name: t('storeModel'),
      cell: (model) => (
        <>
          <strong>{model.name}</strong>{' '}
          {model.name === store.best && <span class="badge good">{t('storeBest')}</span>}
          {model.downloaded && (
            <span class="badge">
              <Check size={13} />
              {t('storeHere')}
            </span>
          )}
        </>
      ),
    },
    { name: t('storeGoodAt'), cell: (model) => model.good_at },
    {
      name: t('modelSize'),
      number: true,
      cell: (model) => <span class="in-one">{bytes(model.bytes)}</span>,
    },
    {
      name: t('storeSpeed'),
      number: true,
      cell: (model) =>
        model.lacks ? '–' : t('tokensPerSecond', { count: number(model.tokens_per_s) }),
    },
    { name: t('storeLicence'), cell: (model) => <span class="in-one">{model.licence}</span> },
    { name: t('storeGet'), cell: state },
  ]
}

function Other({ running, act }: { running: boolean; act: PanelProps['act'] }) {
  const [source, setSource] = useState('')
  return (
    <form
      class="row inline"
      onSubmit={(event) => {
        event.preventDefault()
        act(beginPull(source.trim()))
        setSource('')
      }}
    >
      <input
        class="input"
        dir="ltr"
        aria-label={t('storeOther')}
        placeholder="hf:ORG/REPO:Q4_K_M"
        value={source}
        onInput={(event) => setSource(event.currentTarget.value)}
      />
      <button class="button" disabled={running || !source.trim()}>
        <Download size={16} />
        {t('pull')}
      </button>
    </form>
  )
}

export function GetTab() {
  const { value: store, error, again } = useAsked<Store>(STORE)
  const { value: pull, again: look } = useAsked<Pull>(PULL, EVERY_MS)
  const [failed, setFailed] = useState<unknown>(null)
  const act = (what: Promise<unknown>) => {
    setFailed(null)
    what.catch(setFailed).finally(() => {
      look()
      again()
    })
  }
  const state = pull?.state
  useEffect(() => {
    if (state === 'done') again() // it is there now
  }, [state])
  if (error && !store) return <Failure error={error} onRetry={again} />
  if (!store) return <Loading />
  const running = state === 'running'
  return (
    <>
      <p>
        {t('storeText', {
          memory: bytes(store.free_memory_bytes),
          disk: bytes(store.free_disk_bytes),
          day: store.checked,
        })}
        {store.is_old && ` ${t('storeOld')}`}
      </p>
      {failed ? <Failure error={failed} /> : null}
      {pull && pull.state !== 'none' && <Panel pull={pull} store={store} act={act} />}
      <Table
        caption={t('getTab')}
        columns={columns(store, running, act)}
        rows={store.models}
        rowKey={(model) => model.name}
      />
      <section class="stack">
        <h2>{t('storeOther')}</h2>
        <p class="hint">{t('storeOtherHint')}</p>
        <Other running={running} act={act} />
      </section>
    </>
  )
}

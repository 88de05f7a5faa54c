// A calibration on the server that runs: begun, watched, compared with what is set, and used.
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  cancelRun,
  keepRun,
  startRun,
  type CalibrationRun,
  type Found,
  type ModelTier,
} from '../../api/models'
import { useAsked } from '../../api/use-asked'
import { t } from '../../texts'
import { Failure } from '../../ui/failure'
import { Field, Select } from '../../ui/field'
import { duration, number, percent } from '../../ui/format'
import { Table } from '../../ui/page'

const EVERY_MS = 1000

const threshold = (value: number | null | undefined) =>
  value === undefined ? '–' : value === null ? t('thresholdNone') : number(value, 2)

function Progress({ run, onCancel }: { run: CalibrationRun; onCancel: () => void }) {
  const text = run.questions
    ? t('measureAsked', {
        asked: number(run.asked),
        questions: number(run.questions),
        right: number(run.right),
      })
    : t('measureLoads')
  return (
    <div class="measure-run" role="status">
      <progress aria-label={t('measureRuns')} max={run.questions || 1} value={run.asked} />
      <span>
        {text}
        {run.left_s !== null && ` ${t('measureLeft', { time: duration(Math.ceil(run.left_s) * 1000) })}`}
      </span>
      <button type="button" class="button" onClick={onCancel}>
        {t('cancel')}
      </button>
    </div>
  )
}

interface ResultProps {
  found: Found
  tier: ModelTier | undefined
  kept: boolean
  onKeep: () => void
}

function Result({ found, tier, kept, onKeep }: ResultProps) {
  const now = (risk: number) => tier?.thresholds.find((row) => row.risk === risk)?.threshold
  return (
    <div class="stack">
      <p role="status">
        {t('measureFound', {
          model: `${found.model} ${found.quantization}`,
          questions: number(found.questions),
          right: number(found.right),
        })}
      </p>
      <Table
        caption={t('measureCaption')}
        rows={found.risks}
        rowKey={(row) => String(row.risk)}
        columns={[
          { name: t('riskAsked'), number: true, cell: (row) => percent(row.risk) },
          { name: t('measureNow'), number: true, cell: (row) => threshold(now(row.risk)) },
          { name: t('measureNew'), number: true, cell: (row) => threshold(row.threshold) },
          { name: t('measureKept'), number: true, cell: (row) => percent(row.coverage) },
          { name: t('measureWrong'), number: true, cell: (row) => percent(row.risk_seen) },
        ]}
      />
      {kept ? (
        <p class="verdict" role="status">
          {t('measureUsed')}
        </p>
      ) : (
        <div>
          <button type="button" class="button main" onClick={onKeep}>
            {t('measureUse')}
          </button>
        </div>
      )}
    </div>
  )
}

interface Props {
  tiers: ModelTier[]
  onUsed: () => void // the server judges otherwise now
}

export function Measure({ tiers, onUsed }: Props) {
  const local = tiers.filter((tier) => tier.place === 'device')
  const { value, again } = useAsked<CalibrationRun>('/tandem/v1/calibration/run')
  const [tier, setTier] = useState(local[0]?.name ?? '')
  const [error, setError] = useState<unknown>(null)
  const file = useRef<HTMLInputElement>(null)
  const runs = value?.state === 'running'
  useEffect(() => {
    if (!runs) return
    const timer = setInterval(again, EVERY_MS)
    return () => clearInterval(timer)
  }, [runs, again])

  const run = (step: Promise<unknown>, then?: () => void) => {
    setError(null)
    step.then(() => (again(), then?.()), setError)
  }
  const start = async () => {
    const own = file.current?.files?.[0]
    return startRun(tier, own ? await own.text() : undefined)
  }
  if (!local.length) return null
  return (
    <div class="card stack measure">
      {runs ? (
        <Progress run={value} onCancel={() => run(cancelRun())} />
      ) : (
        <div class="measure-begin">
          {local.length > 1 && (
            <Select
              name={t('judgesTier')}
              value={tier}
              choices={local.map(({ name }) => ({ value: name, name }))}
              onChange={setTier}
            />
          )}
          <Field name={t('measureOwn')} hint={t('measureOwnHint')}>
            {(id) => <input id={id} ref={file} class="input" type="file" accept=".jsonl,.json" />}
          </Field>
          <button type="button" class="button main" onClick={() => run(start())}>
            {t('measureStart')}
          </button>
        </div>
      )}
      {error ? <Failure error={error} /> : null}
      {value?.state === 'failed' && <Failure error={new Error(value.error ?? '')} />}
      {value?.state === 'cancelled' && <p role="status">{t('measureCancelled')}</p>}
      {value?.state === 'done' && value.found && (
        <Result
          found={value.found}
          tier={local.find((one) => one.name === (value.tier ?? local[0]?.name))}
          kept={value.kept}
          onKeep={() => run(keepRun(), onUsed)}
        />
      )}
    </div>
  )
}

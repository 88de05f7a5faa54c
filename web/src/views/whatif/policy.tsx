// The configuration's file: as it is, checked while it is typed, compared, and put into force.
import { CircleCheck, TriangleAlert } from 'lucide-preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/client'
import {
  applyConfig,
  checkConfig,
  readConfig,
  type ConfigChange,
  type ConfigCheck,
  type ConfigFile,
  type PolicyTests,
  type Remark,
} from '../../api/config'
import { t } from '../../texts'
import { Failure } from '../../ui/failure'
import { number } from '../../ui/format'
import { Dialog, Empty, Loading } from '../../ui/page'
import { draft, keepDraft, takeCarried, type Draft } from './draft'
import { Editor } from './editor'
import { diff, putInRoute } from './lines'

const WAIT_MS = 400 // after the last key

/** What the server says of the text; null while it is not known. */
function useCheck(text: string | null) {
  const [check, setCheck] = useState<ConfigCheck | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    if (text === null) return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      checkConfig(text, abort.signal).then(
        (value) => {
          if (abort.signal.aborted) return
          setCheck(value)
          setError(null)
        },
        (reason) => !abort.signal.aborted && setError(reason),
      )
    }, WAIT_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text])
  return { check, error }
}

function Remarks({ remarks, kind, onGo }: { remarks: Remark[]; kind: 'bad' | 'warn'; onGo: (line: number) => void }) {
  return (
    <ul class={`remarks ${kind}`}>
      {remarks.map(({ line, text }, at) => (
        <li key={at}>
          {line !== null && (
            <button type="button" class="badge" onClick={() => onGo(line)}>
              {t('policyLine', { line: number(line) })}
            </button>
          )}
          <span>{text}</span>
        </li>
      ))}
    </ul>
  )
}

function Tests({ tests }: { tests: PolicyTests }) {
  const failed = tests.tests.filter((test) => !test.ok)
  return (
    <section class="tests">
      <h3>{t('policyTests')}</h3>
      <p class={tests.failed || tests.error ? 'bad' : 'good'}>
        {tests.error ?? t('policyTested', { passed: number(tests.passed), failed: number(tests.failed), file: tests.file })}
      </p>
      <ul>
        {failed.map((test) => (
          <li key={test.line}>
            <strong>{test.name}</strong> {test.mismatch}
            {test.because?.map(({ text }, at) => (
              <span class="hint" key={at}>
                {text}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Findings({ check, onGo }: { check: ConfigCheck | null; onGo: (line: number) => void }) {
  if (!check) return <Loading />
  const more = check.error_count - check.errors.length
  return (
    <>
      {check.ok ? (
        <p class="verdict good">
          <CircleCheck size={17} />
          {t('policySound', {
            tiers: number(check.tiers ?? 0),
            routes: number(check.routes ?? 0),
            rules: number(check.rules ?? 0),
          })}
        </p>
      ) : (
        <p class="verdict bad">
          <TriangleAlert size={17} />
          {t('policyMistakes', { count: number(check.error_count) })}
        </p>
      )}
      {check.errors.length > 0 && <Remarks remarks={check.errors} kind="bad" onGo={onGo} />}
      {more > 0 && <p class="hint">{t('policyMore', { count: number(more) })}</p>}
      {check.warnings && check.warnings.length > 0 && (
        <>
          <h3>{t('policyWarnings')}</h3>
          <Remarks remarks={check.warnings} kind="warn" onGo={onGo} />
        </>
      )}
      {check.tests && <Tests tests={check.tests} />}
    </>
  )
}

function Diff({ before, after }: { before: string; after: string }) {
  const marks = { same: ' ', out: '−', in: '+', gap: '⋮' }
  return (
    <div class="diff" tabIndex={0} role="group" aria-label={t('policyDiff')}>
      {diff(before, after).map(({ kind, text, line }, at) => (
        <div class={kind} key={at}>
          <span class="number" aria-hidden="true">
            {line ?? ''}
          </span>
          <span class="mark">
            <span aria-hidden="true">{marks[kind]}</span>
            {kind === 'out' && <span class="unseen">{t('policyOut')}</span>}
            {kind === 'in' && <span class="unseen">{t('policyIn')}</span>}
          </span>
          <code>{text}</code>
        </div>
      ))}
    </div>
  )
}

interface ReviewProps {
  now: Draft
  check: ConfigCheck
  onClose: () => void
  onApplied: (change: ConfigChange) => void
  onStale: () => void
}

/** The change as a whole, before it is in force. */
function Review({ now, check, onClose, onApplied, onStale }: ReviewProps) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const apply = () => {
    setBusy(true)
    setError(null)
    applyConfig(now.text, now.version).then(onApplied, (reason) => {
      setBusy(false)
      if (reason instanceof ApiError && reason.code === 'config_changed') onStale()
      else setError(reason)
    })
  }
  return (
    <Dialog title={t('policyReview')} onClose={onClose}>
      <Diff before={now.base} after={now.text} />
      {check.tests && check.tests.failed > 0 && (
        <p class="note">
          <TriangleAlert size={17} />
          {t('policyFails', { count: number(check.tests.failed) })}
        </p>
      )}
      {check.restart && check.restart.length > 0 && (
        <p class="note">
          <TriangleAlert size={17} />
          {t('policyRestart', { sections: check.restart.join(', ') })}
        </p>
      )}
      {error ? <Failure error={error} /> : null}
      <p class="hint">{t('policyApplyText')}</p>
      <div class="actions">
        <button type="button" class="button main" disabled={busy} onClick={apply}>
          {t('policyApply')}
        </button>
      </div>
    </Dialog>
  )
}

function begin(file: ConfigFile): { now: Draft; missed: boolean } {
  const kept = draft()
  const fresh = { version: file.version ?? '', base: file.text, text: file.text }
  const now = kept && file.may_change ? kept : fresh
  const carried = file.may_change ? takeCarried() : null
  const text = carried && putInRoute(now.text, carried.route, carried.yaml)
  return { now: text ? { ...now, text } : now, missed: carried !== null && text === null }
}

function Workplace({ file, again }: { file: ConfigFile; again: () => void }) {
  const start = useRef(begin(file))
  const [now, setNow] = useState(start.current.now)
  const [review, setReview] = useState(false)
  const [done, setDone] = useState<ConfigChange | null>(null)
  const [stale, setStale] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const { check, error } = useCheck(file.may_change ? now.text : null)
  const changed = now.text !== now.base
  // Another one changed the file while this was worked on.
  const behind = stale || (changed && file.version !== null && now.version !== file.version)
  useEffect(() => keepDraft(changed ? now : null), [now, changed])

  const go = (line: number) => {
    const at = field.current
    if (!at) return
    const lines = at.value.split('\n')
    const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
    at.focus()
    at.setSelectionRange(before, before + (lines[line - 1]?.length ?? 0))
  }
  const edit = (text: string) => {
    setDone(null)
    setNow((old) => ({ ...old, text }))
  }
  const applied = (change: ConfigChange) => {
    setReview(false)
    setDone(change)
    setNow((old) => ({ ...old, base: old.text, version: change.version }))
  }
  const renew = (mine: boolean) =>
    readConfig().then((fresh) => {
      setStale(false)
      setNow((old) => ({
        version: fresh.version ?? '',
        base: fresh.text,
        text: mine ? old.text : fresh.text,
      }))
      if (mine) setReview(true)
      again()
    })

  return (
    <div class="policy">
      <section class="stack" aria-label={t('policyText')}>
        <header class="section-head">
          <h2 class="path" title={file.file ?? ''}>
            {file.file?.split('/').at(-1)}
          </h2>
          {file.may_change && (
            <div class="actions">
              <button
                type="button"
                class="button quiet"
                disabled={!changed}
                onClick={() => edit(now.base)}
              >
                {t('policyUndo')}
              </button>
              <button
                type="button"
                class="button main"
                disabled={!changed || !check?.ok || behind}
                onClick={() => setReview(true)}
              >
                {t('policyReview')}
              </button>
            </div>
          )}
        </header>
        {!file.may_change && <p class="note">{t('policyOnlyLook', { why: file.why_not ?? '' })}</p>}
        {start.current.missed && !changed && <p class="note">{t('policyMissed')}</p>}
        {behind && (
          <div class="note" role="alert">
            <div>
              <p>{t('policyStale')}</p>
              <button type="button" class="button quiet" onClick={() => void renew(false)}>
                {t('policyTheirs')}
              </button>
              <button type="button" class="button quiet" onClick={() => void renew(true)}>
                {t('policyMine')}
              </button>
            </div>
          </div>
        )}
        <Editor
          field={field}
          value={now.text}
          onChange={edit}
          readOnly={!file.may_change}
          errors={check?.errors ?? []}
          warnings={check?.warnings ?? []}
        />
        <p class="hint">
          {t('policyHint')}
          {file.sections.length > 0 && ` ${t('policySections', { sections: file.sections.join(', ') })}`}
        </p>
      </section>
      {file.may_change && (
        <section class="card findings stack" aria-label={t('policyFindings')}>
          <h2>{t('policyFindings')}</h2>
          <div role="status" class="stack">
            {done && (
              <p class="verdict good">
                <CircleCheck size={17} />
                {t('policyDone', { policy: done.policy_version ?? '' })}
                {done.restart && done.restart.length > 0 &&
                  ` ${t('policyRestart', { sections: done.restart.join(', ') })}`}
              </p>
            )}
            {error ? <Failure error={error} /> : <Findings check={check} onGo={go} />}
          </div>
        </section>
      )}
      {review && check && (
        <Review
          now={now}
          check={check}
          onClose={() => setReview(false)}
          onApplied={applied}
          onStale={() => {
            setReview(false)
            setStale(true)
          }}
        />
      )}
    </div>
  )
}

export function PolicyTab() {
  const [file, setFile] = useState<ConfigFile | null>(null)
  const [error, setError] = useState<unknown>(null)
  const again = () => void readConfig().then(setFile, setError)
  useEffect(again, [])
  if (error) return <Failure error={error} onRetry={() => (setError(null), again())} />
  if (!file) return <Loading />
  if (!file.file) return <Empty>{t('policyNoFile')}</Empty>
  return <Workplace file={file} again={again} />
}

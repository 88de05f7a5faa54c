// Questions that no model should answer alone: taken, judged and answered by a person, by keys.
import { Send } from 'lucide-preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Ticket, Verb } from '../../api/review'
import { t } from '../../texts'
import { Command } from '../../ui/copy'
import { Failure } from '../../ui/failure'
import { Empty, Loading, Page } from '../../ui/page'
import type { ViewProps } from '../../views'
import { useKeys, useKeysOn } from './keys'
import { Countdown, LostNote } from './lease'
import { Queue, focusRow } from './queue'
import './review.css'
import { Key, TicketCard } from './ticket'
import { useDesk, type Desk } from './use-desk'

/** What is being written: a new text, or one that begins as a candidate's. */
interface Draft {
  ticket: string
  verb: 'answer' | 'edit' | 'reject'
  candidate?: number
  text: string
}

interface EditorProps {
  draft: Draft
  ready: boolean
  onChange: (draft: Draft | null) => void
  onSend: () => void
}

function Editor({ draft, ready, onChange, onSend }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  // Before the next key can come: a letter that reaches the page instead is an action.
  useLayoutEffect(() => area.current?.focus(), [draft.verb, draft.candidate])
  const name = draft.verb === 'reject' ? t('reviewReason') : t('reviewText')
  return (
    <form
      class="card review-editor"
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
    >
      <label class="field">
        <span class="name">{name}</span>
        <textarea
          class="input"
          rows={6}
          dir="auto"
          ref={area}
          value={draft.text}
          onInput={(event) => onChange({ ...draft, text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onChange(null)
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.preventDefault()
              onSend()
            }
          }}
        />
      </label>
      <div class="actions">
        <button class="button main" disabled={!ready || !draft.text.trim()}>
          <Send size={15} />
          {t('reviewSend')}
          <Key name="Ctrl ↵" />
        </button>
        <button type="button" class="button quiet" onClick={() => onChange(null)}>
          {t('cancel')}
          <Key name="Esc" />
        </button>
      </div>
    </form>
  )
}

interface BarProps {
  desk: Desk
  ticket: Ticket
  onDraft: (verb: Draft['verb']) => void
}

/** How long it is theirs, and what can be done with it now. */
function Bar({ desk, ticket, onDraft }: BarProps) {
  const button = (name: string, key: string, run: () => void, kind = '') => (
    <button type="button" class={`button ${kind}`} disabled={desk.busy} onClick={run}>
      {name}
      <Key name={key} />
    </button>
  )
  const step = (verb: Verb) => () => desk.step(verb)
  if (ticket.shown === 'withheld' || ticket.state === 'ended' || ticket.state === 'expired')
    return null
  if (!desk.mine)
    return (
      <div class="review-bar">{button(t('reviewTake'), 'T', step('take'), 'main')}</div>
    )
  return (
    <div class="review-bar">
      <div class="actions">
        {button(t('reviewWrite'), 'A', () => onDraft('answer'))}
        {ticket.candidates.length > 0 && button(t('reviewEditBest'), 'E', () => onDraft('edit'))}
        {button(t('reviewReject'), 'R', step('reject'))}
        <button type="button" class="button quiet" onClick={() => onDraft('reject')}>
          {t('reviewRejectWhy')}
        </button>
      </div>
      <div class="actions">
        {ticket.lease_until && <Countdown untilS={ticket.lease_until} />}
        {button(t('reviewRenew'), 'W', step('renew'), 'quiet')}
        {button(t('reviewRelease'), 'G', step('release'), 'quiet')}
      </div>
    </div>
  )
}

function NoTickets() {
  return (
    <Empty>
      <p>{t('reviewEmpty')}</p>
      <p>{t('reviewEmptyHow')}</p>
      <Command text={'tiers: [{name: people, kind: review}]'} />
    </Empty>
  )
}

function draftOf(ticket: Ticket, verb: Draft['verb'], candidate?: number): Draft {
  const at = candidate ?? ticket.candidates.length - 1 // the last one is the best
  if (verb !== 'edit') return { ticket: ticket.id, verb, text: '' }
  return { ticket: ticket.id, verb, candidate: at, text: ticket.candidates[at]?.content ?? '' }
}

function useReview() {
  const desk = useDesk()
  const { ticket, mine } = desk
  const [draft, setDraft] = useState<Draft | null>(null)
  const mineNow = mine && ticket !== null && ticket.state === 'taken'
  useEffect(() => {
    if (draft && draft.ticket !== ticket?.id) setDraft(null)
  }, [ticket?.id])
  const begin = (verb: Draft['verb'], candidate?: number) =>
    ticket && setDraft(draftOf(ticket, verb, candidate))
  const accept = (candidate: number) => {
    if (mineNow && ticket.candidates[candidate]) desk.step('answer', { candidate })
  }
  const sendDraft = () => {
    if (!draft?.text.trim() || !mineNow) return
    const { verb, candidate, text } = draft
    desk.step(verb, candidate === undefined ? { text } : { candidate, text })
  }
  return { desk, draft, setDraft, mineNow, begin, accept, sendDraft }
}

export default function Review({ rest }: ViewProps) {
  const { desk, draft, setDraft, mineNow, begin, accept, sendDraft } = useReview()
  const [keysOn, setKeysOn] = useKeysOn()
  const { ticket, rows } = desk
  useEffect(() => {
    if (rest) desk.open(rest)
  }, [rest])
  const takes = ticket && !desk.mine && ticket.shown !== 'withheld'
  const acts = mineNow && !desk.busy
  const accepts = Array.from({ length: 9 }, (_, at) => [String(at + 1), acts && (() => accept(at))])
  useKeys(keysOn, {
    n: desk.next,
    j: () => focusRow(1),
    k: () => focusRow(-1),
    t: !!takes && (() => desk.step('take')),
    w: acts && (() => desk.step('renew')),
    g: acts && (() => desk.step('release')),
    a: acts && (() => begin('answer')),
    e: acts && ticket!.candidates.length > 0 && (() => begin('edit')),
    r: acts && (() => desk.step('reject')),
    ...Object.fromEntries(accepts),
  })
  return (
    <Page
      title={t('review')}
      text={t('reviewIntro')}
      actions={
        <>
          <label class="review-keys">
            <input
              type="checkbox"
              checked={keysOn}
              onChange={(event) => setKeysOn(event.currentTarget.checked)}
            />
            {t('reviewKeys')}
          </label>
          <button type="button" class="button main" disabled={desk.busy} onClick={desk.next}>
            {t('reviewNext')}
            <Key name="N" />
          </button>
        </>
      }
    >
      <p class={desk.notice ? 'review-notice' : 'unseen'} role="status">
        {desk.notice}
      </p>
      {desk.listError ? <Failure error={desk.listError} onRetry={desk.again} /> : null}
      {desk.problem && (
        <div class="note bad" role="alert">
          <p>{desk.problem}</p>
        </div>
      )}
      {!rows && !desk.listError && <Loading />}
      {rows?.length === 0 && !ticket && <NoTickets />}
      <div class={`review ${keysOn ? '' : 'no-keys'}`} hidden={!ticket && !rows?.length}>
        <Queue desk={desk} />
        <div class="review-ticket stack">
          {!ticket && rows?.length ? <Empty>{t('reviewChoose')}</Empty> : null}
          {ticket && (
            <>
              <Bar desk={desk} ticket={ticket} onDraft={begin} />
              <LostNote desk={desk} />
              {draft && (
                <Editor draft={draft} ready={acts} onChange={setDraft} onSend={sendDraft} />
              )}
              <TicketCard
                ticket={ticket}
                acts={acts}
                onAccept={accept}
                onEdit={(at) => begin('edit', at)}
              />
            </>
          )}
        </div>
      </div>
    </Page>
  )
}

// One ticket: what was asked, what the models said, side by side, and why it is here.
import { EyeOff, Pencil, ShieldCheck } from 'lucide-preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Candidate, Ticket } from '../../api/review'
import { t, type TextName } from '../../texts'
import { Markdown } from '../../ui/markdown'
import { money, percent } from '../../ui/format'
import { Figures } from '../../ui/page'
import { PlaceBadge, placeClass, placeName } from '../../ui/place'
import { CLASS_NAMES } from '../../ui/data-class'
import { clockTime, timeUntil } from './times'
import { ReasonText } from '../../ui/said'

const ROLES: Record<string, TextName> = {
  user: 'reviewUser',
  assistant: 'reviewAssistant',
  system: 'systemPrompt',
}

export function Key({ name }: { name: string }) {
  return <kbd aria-hidden="true">{name}</kbd>
}

function Question({ ticket }: { ticket: Ticket }) {
  return (
    <section class="card review-question" aria-label={t('reviewQuestion')}>
      <h3>{t('reviewQuestion')}</h3>
      {ticket.question.map((message, at) => (
        <div class="said" key={at}>
          <span class="from">{ROLES[message.role] ? t(ROLES[message.role]!) : message.role}</span>
          <p dir="auto">{message.content}</p>
        </div>
      ))}
    </section>
  )
}

interface CandidateProps {
  candidate: Candidate
  at: number
  acts: boolean
  onAccept: (at: number) => void
  onEdit: (at: number) => void
}

function CandidateCard({ candidate, at, acts, onAccept, onEdit }: CandidateProps) {
  const sure = candidate.confidence
  return (
    <article
      class={`card review-candidate ${placeClass(candidate.place)}`}
      aria-label={t('reviewCandidate', { number: at + 1 })}
    >
      <header>
        <PlaceBadge place={candidate.place}>
          {candidate.tier} <span class="origin-place">{placeName(candidate.place)}</span>
        </PlaceBadge>
        <span class="sure">
          {typeof sure === 'number'
            ? t('reviewSure', { share: percent(sure) })
            : t('confidenceNone')}
        </span>
      </header>
      <div class="said prose" dir="auto">
        <Markdown text={candidate.content ?? ''} />
      </div>
      {acts && (
        <div class="actions">
          <button type="button" class="button" onClick={() => onAccept(at)}>
            {t('reviewAccept')}
            {at < 9 && <Key name={String(at + 1)} />}
          </button>
          <button type="button" class="button quiet" onClick={() => onEdit(at)}>
            <Pencil size={14} />
            {t('edit')}
          </button>
        </div>
      )}
    </article>
  )
}

function ShownNote({ ticket }: { ticket: Ticket }) {
  if (ticket.shown === 'whole') return null
  const redacted = ticket.shown === 'redacted'
  return (
    <div class="note">
      {redacted ? <ShieldCheck size={17} /> : <EyeOff size={17} />}
      <p>{t(redacted ? 'reviewRedacted' : 'reviewWithheld')}</p>
    </div>
  )
}

function Stakes({ ticket }: { ticket: Ticket }) {
  const figures = [
    {
      name: t('reviewDeadline'),
      value: timeUntil(ticket.expires),
      hint: clockTime(ticket.expires),
    },
    { name: t('dataClass'), value: t(CLASS_NAMES[ticket.data_class] ?? 'classPublic') },
  ]
  if (ticket.cost_of_error_usd)
    figures.push({ name: t('reviewErrorCosts'), value: money(ticket.cost_of_error_usd) })
  if (ticket.review_usd)
    figures.push({ name: t('reviewCosts'), value: money(ticket.review_usd) })
  return <Figures figures={figures} />
}

function Behind({ ticket }: { ticket: Ticket }) {
  return (
    <div class="review-behind">
      <details>
        <summary>{t('reviewWhy')}</summary>
        <ol>
          {ticket.reasons.map((reason, at) => (
            <li key={at}>
              <ReasonText reason={reason} />
              {!reason.text && reason.tier ? ` (${reason.tier})` : ''}
            </li>
          ))}
        </ol>
      </details>
      <details>
        <summary>{t('reviewLooks', { count: ticket.looks.length })}</summary>
        <ol>
          {ticket.looks.map((look, at) => (
            <li key={at}>
              {clockTime(look.at)} · {look.who} · {look.what}
            </li>
          ))}
        </ol>
      </details>
    </div>
  )
}

interface Props {
  ticket: Ticket
  acts: boolean // whether an outcome can be given now
  onAccept: (at: number) => void
  onEdit: (at: number) => void
}

export function TicketCard({ ticket, acts, onAccept, onEdit }: Props) {
  const head = useRef<HTMLHeadingElement>(null)
  useEffect(() => head.current?.focus(), [ticket.id])
  const seen = ticket.shown !== 'withheld'
  return (
    <>
      <h2 tabIndex={-1} ref={head}>
        {t('reviewTicket')} <code>{ticket.id}</code>
      </h2>
      <ShownNote ticket={ticket} />
      <Stakes ticket={ticket} />
      {seen && <Question ticket={ticket} />}
      {seen && ticket.candidates.length > 0 && (
        <section class="review-candidates" aria-label={t('reviewCandidates')}>
          {ticket.candidates.map((candidate, at) => (
            <CandidateCard key={at} {...{ candidate, at, acts, onAccept, onEdit }} />
          ))}
        </section>
      )}
      {seen && !ticket.candidates.length && <p class="muted">{t('reviewNoCandidates')}</p>}
      {ticket.outcome && ticket.answer && (
        <section class="card">
          <h3>{t('reviewGiven')}</h3>
          <p class="plain" dir="auto">{ticket.answer}</p>
        </section>
      )}
      <Behind ticket={ticket} />
    </>
  )
}

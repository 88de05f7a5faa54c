// How long the ticket is still ours, and what became of it when it is not.
import { Clock, TriangleAlert } from 'lucide-preact'
import { useEffect, useState } from 'preact/hooks'
import { serverNow } from '../../api/review'
import { t, type TextName } from '../../texts'
import type { Desk, Lost } from './use-desk'

const SOON_S = 60

function useSeconds(untilS: number): number {
  const read = () => Math.max(0, Math.ceil(untilS - serverNow() / 1000))
  const [left, setLeft] = useState(read)
  useEffect(() => {
    setLeft(read())
    const timer = setInterval(() => setLeft(read()), 500)
    return () => clearInterval(timer)
  }, [untilS])
  return left
}

const clock = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

export function Countdown({ untilS }: { untilS: number }) {
  const left = useSeconds(untilS)
  const soon = left <= SOON_S
  return (
    <>
      <span class={`badge ${soon ? 'warn' : 'good'}`} role="timer" aria-label={t('reviewLease')}>
        <Clock size={13} />
        {t('reviewLeft', { time: clock(left) })}
      </span>
      <span class="unseen" role="status">
        {soon ? t('reviewSoon') : ''}
      </span>
    </>
  )
}

const WHY: Record<Lost, TextName> = {
  time: 'reviewLostTime',
  other: 'reviewLostOther',
  gone: 'reviewLostGone',
}

export function LostNote({ desk }: { desk: Desk }) {
  if (!desk.lost) return null
  return (
    <div class="note bad" role="alert">
      <TriangleAlert size={17} />
      <p>{t(WHY[desk.lost])}</p>
    </div>
  )
}

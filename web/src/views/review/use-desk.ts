// One reviewer's desk: the queue, the ticket that is open, and whether it is still theirs. A lease
// ends by the server's clock, by another's hand, or because the ticket is gone. Each is noticed
// here, and what was typed stays.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/client'
import {
  ROWS_MAX,
  TICKETS,
  listTickets,
  serverNow,
  showTicket,
  stepTicket,
  type Ticket,
  type TicketRow,
  type Verb,
} from '../../api/review'
import { useAsked } from '../../api/use-asked'
import { t } from '../../texts'
import { failureText } from '../../ui/failure'

const POLL_MS = 4000
const ACTIVE_MS = 60_000 // whoever did something in this time is still at work
const RENEW_MS = 10_000 // between two tries to renew
const TAKES_MAX = 100 // tickets that are tried for the next one

export type Lost = 'time' | 'other' | 'gone'

export interface Desk {
  rows: TicketRow[] | null
  listError: unknown
  ticket: Ticket | null
  mine: boolean
  lost: Lost | null
  leaseMs: number // of a whole lease
  busy: boolean
  notice: string // what was done, said aloud
  problem: string
  barred: ReadonlySet<string> // tickets that are withheld from this reviewer
  open: (id: string) => void
  close: () => void
  next: () => void
  step: (verb: Verb, body?: object) => void
  again: () => void
}

const OUTCOMES: Verb[] = ['answer', 'edit', 'reject']
const codeOf = (error: unknown) => (error instanceof ApiError ? error.status : -1)

/** Counts a lease down, and renews it while its holder is at work. */
function useLease(ticket: Ticket | null, mine: boolean, renew: () => void, lose: () => void) {
  const active = useRef(0)
  const total = useRef(0)
  const until = mine ? (ticket?.lease_until ?? 0) * 1000 : 0
  useEffect(() => {
    if (!until) return
    total.current = Math.max(until - serverNow(), 1000)
    active.current = Date.now()
    const note = () => (active.current = Date.now())
    let askedAt = 0
    const timer = setInterval(() => {
      const left = until - serverNow()
      if (left <= 0) lose()
      else if (
        left < total.current / 3 &&
        Date.now() - active.current < ACTIVE_MS &&
        Date.now() - askedAt > RENEW_MS
      ) {
        askedAt = Date.now()
        renew()
      }
    }, 500)
    addEventListener('keydown', note)
    addEventListener('pointerdown', note)
    return () => {
      clearInterval(timer)
      removeEventListener('keydown', note)
      removeEventListener('pointerdown', note)
    }
  }, [until, ticket?.id])
  return total.current
}

/** What the queue says of a ticket that was ours. */
function fateOf(ticket: Ticket, rows: TicketRow[]): Lost | null {
  const row = rows.find((one) => one.id === ticket.id)
  if (!row) return rows.length < ROWS_MAX ? 'gone' : null
  if (row.state === 'taken') return row.holder === ticket.holder ? null : 'other'
  return row.state === 'open' ? 'time' : 'gone'
}

export function useDesk(): Desk {
  const list = useAsked<{ data: TicketRow[] }>(`${TICKETS}?limit=${ROWS_MAX}`, POLL_MS)
  const [ticket, setTicket] = useState<Ticket | null>(null)
  const [mine, setMine] = useState(false)
  const [lost, setLost] = useState<Lost | null>(null)
  const [busy, setBusy] = useState(false)
  const working = useRef(false)
  const [notice, setNotice] = useState('')
  const [problem, setProblem] = useState('')
  const [barred, setBarred] = useState<ReadonlySet<string>>(new Set())

  const lose = useCallback((why: Lost) => {
    setMine(false)
    setLost(why)
  }, [])
  const show = (value: Ticket, ours: boolean) => {
    setTicket(value)
    setMine(ours)
    setLost(null)
    if (value.shown === 'withheld') setBarred((now) => new Set(now).add(value.id))
    list.again()
  }
  const run = async (work: () => Promise<void>) => {
    if (working.current) return
    working.current = true
    setBusy(true)
    setProblem('')
    setNotice('')
    try {
      await work()
    } catch (error) {
      setProblem(failureText(error))
      list.again()
    }
    working.current = false
    setBusy(false)
  }

  /** The oldest that is open and may be seen; null when there is none. */
  const takeOldest = async (): Promise<Ticket | null> => {
    const { data } = await listTickets()
    for (const row of data.filter((one) => one.state === 'open').slice(0, TAKES_MAX)) {
      if (barred.has(row.id)) continue
      try {
        return await stepTicket(row.id, 'take')
      } catch (error) {
        if (codeOf(error) === 403) setBarred((now) => new Set(now).add(row.id))
        else if (codeOf(error) !== 409 && codeOf(error) !== 404) throw error
      }
    }
    return null
  }
  const next = async (done = '') => {
    const found = await takeOldest()
    if (found) show(found, true)
    else {
      setTicket(null)
      setMine(false)
      setLost(null)
      list.again()
    }
    const what = found ? t('reviewNextTaken') : t('reviewNoneLeft')
    setNotice(done ? `${done} ${what}` : what)
  }
  const step = async (verb: Verb, body: object) => {
    if (!ticket) return
    try {
      const value = await stepTicket(ticket.id, verb, body)
      if (OUTCOMES.includes(verb)) return await next(t('reviewSent'))
      show(value, verb !== 'release')
    } catch (error) {
      if (codeOf(error) !== 409 && codeOf(error) !== 404) throw error
      // Another has it, or it has ended, or it was erased.
      const now = codeOf(error) === 409 ? await showTicket(ticket.id) : null
      if (now) setTicket(now)
      lose(now?.state === 'taken' ? 'other' : now?.state === 'open' ? 'time' : 'gone')
      list.again()
    }
  }

  const total = useLease(ticket, mine, () => void run(() => step('renew', {})), () => lose('time'))
  useEffect(() => {
    const fate = ticket && mine && list.value ? fateOf(ticket, list.value.data) : null
    if (fate) lose(fate)
  }, [list.value])

  return {
    rows: list.value?.data ?? null,
    listError: list.error,
    ticket,
    mine,
    lost,
    leaseMs: total,
    busy,
    notice,
    problem,
    barred,
    open: (id) => void run(async () => show(await showTicket(id), false)),
    close: () => setTicket(null),
    next: () => void run(() => next()),
    step: (verb, body = {}) => void run(() => step(verb, body)),
    again: list.again,
  }
}

// Tickets for people (docs/review.md). What of a ticket may be seen the server decides.
import { send } from './client'
import type { DataClass, Place, Reason } from './types'

export interface TicketRow {
  id: string
  tier: string
  state: 'open' | 'taken' | 'ended' | 'expired'
  data_class: DataClass
  created: number // seconds since 1970, as all times here
  expires: number
  lease_until: number | null
  holder: string | null
  outcome: string | null
}

export interface Candidate {
  tier: string | null
  model: string | null
  place: Place
  confidence: number | null
  content: string | null // null: withheld
}

export interface Ticket extends TicketRow {
  shown: 'whole' | 'redacted' | 'withheld'
  question: { role: string; content: string | null }[]
  candidates: Candidate[]
  route: string | null
  reasons: Partial<Reason>[] // without texts unless the ticket is shown whole
  cost_of_error_usd: number | null
  review_usd: number | null
  answer: string | null
  looks: { at: number; who: string; what: string }[]
}

export type Verb = 'take' | 'renew' | 'release' | 'answer' | 'edit' | 'reject'

export const ROWS_MAX = 200
export const TICKETS = '/tandem/v1/review/tickets'

// The server's clock less this one's, ms: leases end by the server's.
let skewMs = 0
export const serverNow = () => Date.now() + skewMs

async function askTimed<T>(path: string, body?: unknown): Promise<T> {
  const response = await send(path, { body })
  const date = Date.parse(response.headers.get('date') ?? '')
  if (date) skewMs = date + 500 - Date.now() // the head has whole seconds
  return (await response.json()) as T
}

export const listTickets = () => askTimed<{ data: TicketRow[] }>(`${TICKETS}?limit=${ROWS_MAX}`)
export const showTicket = (id: string) => askTimed<Ticket>(`${TICKETS}/${encodeURIComponent(id)}`)
export const stepTicket = (id: string, verb: Verb, body: object = {}) =>
  askTimed<Ticket>(`${TICKETS}/${encodeURIComponent(id)}/${verb}`, body)

// Those that wait, oldest first.
import { Lock } from 'lucide-preact'
import type { TicketRow } from '../../api/review'
import { t } from '../../texts'
import { CLASS_NAMES } from '../../ui/data-class'
import { timeUntil } from './times'
import type { Desk } from './use-desk'

function stateOf(row: TicketRow, desk: Desk) {
  if (row.id === desk.ticket?.id && desk.mine)
    return <span class="badge good">{t('reviewYours')}</span>
  if (desk.barred.has(row.id)) return <span class="badge warn">{t('reviewBarred')}</span>
  return row.state === 'taken' ? <span class="badge">{t('reviewTaken')}</span> : null
}

export function Queue({ desk }: { desk: Desk }) {
  const rows = desk.rows ?? []
  return (
    <nav class="review-queue" aria-label={t('reviewQueue')}>
      <h2>
        {t('reviewQueue')} <span class="badge">{rows.length}</span>
      </h2>
      <ol>
        {rows.map((row) => (
          <li key={row.id}>
            <button
              type="button"
              class="review-row"
              data-row
              aria-current={row.id === desk.ticket?.id ? 'true' : undefined}
              onClick={() => desk.open(row.id)}
            >
              <span class="top">
                <span>{t('reviewAsked', { when: timeUntil(row.created) })}</span>
                {stateOf(row, desk)}
              </span>
              <span class="bottom">
                {row.data_class !== 'public' && <Lock size={12} />}
                {t(CLASS_NAMES[row.data_class] ?? 'classPublic')} ·{' '}
                {t('reviewDue', { when: timeUntil(row.expires) })}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** Moves among the rows of the queue. */
export function focusRow(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.findIndex((row) => row === document.activeElement)
  const from = at >= 0 ? at : rows.findIndex((row) => row.getAttribute('aria-current'))
  rows[Math.min(Math.max(from + by, 0), rows.length - 1)]?.focus()
}

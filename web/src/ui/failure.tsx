import { TriangleAlert } from 'lucide-preact'
import { ApiError } from '../api/client'
import { t } from '../texts'

export function failureText(error: unknown): string {
  if (error instanceof ApiError && error.status === 0) return t('cannotReach')
  return t('somethingFailed', { why: error instanceof Error ? error.message : String(error) })
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div class="note bad" role="alert">
      <TriangleAlert size={17} />
      <div>
        <p>{failureText(error)}</p>
        {onRetry && (
          <button type="button" class="button quiet" onClick={onRetry}>
            {t('tryAgain')}
          </button>
        )}
      </div>
    </div>
  )
}

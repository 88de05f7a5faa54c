// What it costs and what it saved; for operators, who may ask and how much.
import { may } from '../../api/session'
import { hrefOf } from '../../router'
import { t } from '../../texts'
import type { ViewProps } from '../../views'
import './keys.css'
import { Keys } from './keys'
import { ReportPage } from './report'

export default function Costs({ rest, role }: ViewProps) {
  const operates = may(role, 'operator')
  const keys = operates && rest === 'keys'
  const tabs = operates && (
    <nav class="tabs" aria-label={t('costs')}>
      <a href={hrefOf('keys')} aria-current={keys ? undefined : 'page'}>
        {t('reportTab')}
      </a>
      <a href={hrefOf('keys', 'keys')} aria-current={keys ? 'page' : undefined}>
        {t('keysTab')}
      </a>
    </nav>
  )
  return keys ? <Keys tabs={tabs} /> : <ReportPage tabs={tabs} operates={operates} />
}

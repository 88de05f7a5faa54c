// Privacy: what is found in a text, what left, who allowed it, and erasing a user.
import { may } from '../../api/session'
import { t } from '../../texts'
import { Page } from '../../ui/page'
import { Tabs, tabOf } from '../../ui/tabs'
import type { ViewProps } from '../../views'
import { CheckTab } from './check'
import { ConsentsTab } from './consents'
import { ForgetTab } from './forget'
import { LeftTab } from './left'
import './privacy.css'

export default function Privacy({ rest, role }: ViewProps) {
  const tabs = [
    { rest: '', name: t('privacyCheck') },
    ...(may(role, 'operator') ? [{ rest: 'left', name: t('privacyLeft') }] : []),
    { rest: 'consents', name: t('consents') },
    { rest: 'forget', name: t('forget') },
  ]
  const shown = tabOf(tabs, rest).rest
  return (
    <Page title={t('privacy')} text={t('privacyLead')}>
      <Tabs label={t('privacy')} view="privacy" rest={rest} tabs={tabs} />
      <div class="sections stack">
        {shown === '' && <CheckTab />}
        {shown === 'left' && <LeftTab />}
        {shown === 'consents' && <ConsentsTab />}
        {shown === 'forget' && <ForgetTab />}
      </div>
    </Page>
  )
}

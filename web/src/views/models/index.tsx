// Models and calibration: what answers here, what its confidence is worth, and how a change goes.
import type { Calibration } from '../../api/models'
import { useAsked } from '../../api/use-asked'
import { t } from '../../texts'
import { Failure } from '../../ui/failure'
import { Loading, Page } from '../../ui/page'
import { Tabs, tabOf } from '../../ui/tabs'
import type { ViewProps } from '../../views'
import { CalibrationTab } from './calibration'
import { GetTab } from './get'
import { ModelsTab } from './models'
import './models.css'
import { RolloutTab } from './rollout'

export default function Models({ rest }: ViewProps) {
  const { value, error, again } = useAsked<Calibration>('/tandem/v1/calibration')
  const tabs = [
    { rest: '', name: t('modelsTab') },
    { rest: 'get', name: t('getTab') },
    { rest: 'calibration', name: t('calibrationTab') },
    { rest: 'rollout', name: t('rolloutTab') },
  ]
  const shown = tabOf(tabs, rest).rest
  return (
    <Page title={t('models')} text={t('modelsLead')}>
      <Tabs label={t('models')} view="models" rest={rest} tabs={tabs} />
      <div class="sections stack">
        {error && !value ? <Failure error={error} onRetry={again} /> : null}
        {!error && !value && <Loading />}
        {shown === 'get' && <GetTab />}
        {value && shown === '' && <ModelsTab calibration={value} />}
        {value && shown === 'calibration' && <CalibrationTab calibration={value} again={again} />}
        {shown === 'rollout' && <RolloutTab />}
      </div>
    </Page>
  )
}

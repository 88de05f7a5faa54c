// The savings report: one page for a period and a key, on the screen and on paper. Its figures are
// the ledger's, as `tandem report` prints them.
import { Printer } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  KEYS,
  reportPath,
  type By,
  type Group,
  type KeyList,
  type Report,
} from '../../api/keys'
import { useAsked } from '../../api/use-asked'
import { t, type TextName } from '../../texts'
import { Chart } from '../../ui/chart'
import { Failure } from '../../ui/failure'
import { Select } from '../../ui/field'
import { money, number, percent } from '../../ui/format'
import { Empty, Figures, Loading, Page, Table } from '../../ui/page'
import { dayText, periods, points, type Period, type Span } from './periods'

const ROWS_MAX = 10
const BY: { value: Exclude<By, 'day'>; name: TextName }[] = [
  { value: 'app', name: 'reportApp' },
  { value: 'user', name: 'reportUser' },
  { value: 'route', name: 'reportRoute' },
  { value: 'model', name: 'model' },
  { value: 'key', name: 'reportKey' },
]
const SPANS: Record<Span, TextName> = {
  day: 'reportDay',
  week: 'reportWeek',
  month: 'reportMonth',
}

function periodName({ id, since, until, span }: Period): string {
  const range = `${dayText(since)} – ${dayText(until - 1)}`
  if (id === 'month') return t('reportThisMonth')
  if (span !== 'day') return t(span === 'week' ? 'reportQuarter' : 'reportYear')
  return id === 'w0' ? t('reportThisWeek', { range }) : t('reportWeekOf', { range })
}

function Totals({ report }: { report: Report }) {
  const { exchanges, device, cost_usd, all_cloud_cost_usd, saving_usd, shadow_cost_usd } = report
  const shadows = shadow_cost_usd > 0 ? t('reportShadows', { cost: money(shadow_cost_usd) }) : null
  return (
    <Figures
      figures={[
        {
          name: t('reportSaved'),
          value: money(saving_usd),
          hint: all_cloud_cost_usd > 0 ? percent(saving_usd / all_cloud_cost_usd) : null,
        },
        { name: t('reportSpent'), value: money(cost_usd), hint: shadows },
        { name: t('reportCloud'), value: money(all_cloud_cost_usd), hint: t('reportCloudHint') },
        {
          name: t('reportExchanges'),
          value: number(exchanges),
          hint: exchanges ? t('reportDevice', { share: percent(device / exchanges) }) : null,
        },
      ]}
    />
  )
}

function Course({ report, period }: { report: Report; period: Period }) {
  const [span, setSpan] = useState<Span>(period.span)
  const found = points(report.groups, { ...period, span })
  const label = t('reportChart', {
    cost: money(report.cost_usd),
    cloud: money(report.all_cloud_cost_usd),
  })
  return (
    <section class="card stack">
      <header class="page-head">
        <h2>{t('reportCourse')}</h2>
        <div class="unprinted">
          <Select
            name={t('reportEach')}
            value={span}
            choices={(Object.keys(SPANS) as Span[]).map((one) => ({
              value: one,
              name: t(SPANS[one]),
            }))}
            onChange={setSpan}
          />
        </div>
      </header>
      <Chart
        label={label}
        x={found.map((_, at) => at)}
        xFormat={(at) => (found[at] ? dayText(found[at].at, span) : '')}
        format={money}
        series={[
          {
            name: t('reportCloud'),
            values: found.map((one) => one.cloud),
            color: '--cloud',
            points: found.length < 2,
          },
          {
            name: t('reportSpent'),
            values: found.map((one) => one.cost),
            color: '--device',
            fill: found.length > 1,
            points: found.length < 2,
          },
        ]}
        height={180}
      />
    </section>
  )
}

interface GroupsProps {
  report: Report
  name: string
  nameOf: (name: string | null) => string
}

function Groups({ report, name, nameOf }: GroupsProps) {
  const rest = report.groups.slice(ROWS_MAX).reduce((sum, one) => sum + one.exchanges, 0)
  const more = rest + report.others
  return (
    <>
      <Table<Group>
        caption={name}
        rows={report.groups.slice(0, ROWS_MAX)}
        rowKey={(row) => String(row.name)}
        columns={[
          { name, cell: (row) => nameOf(row.name) },
          { name: t('reportExchanges'), number: true, cell: (row) => number(row.exchanges) },
          {
            name: t('reportOnDevice'),
            number: true,
            cell: (row) => percent(row.device / Math.max(row.exchanges, 1)),
          },
          { name: t('reportSpent'), number: true, cell: (row) => money(row.cost_usd) },
          { name: t('reportCloud'), number: true, cell: (row) => money(row.all_cloud_cost_usd) },
          {
            name: t('reportSaved'),
            number: true,
            cell: (row) => money(row.all_cloud_cost_usd - row.cost_usd),
          },
        ]}
      />
      {more > 0 && <p class="muted">{t('reportMore', { count: number(more) })}</p>}
    </>
  )
}

/** Keys by their ids; names where this person may see them. */
function useKeyNames(operates: boolean) {
  const list = useAsked<KeyList>(operates ? KEYS : null)
  return (id: string | null) =>
    id === null ? t('reportNone') : (list.value?.data.find((key) => key.id === id)?.name ?? id)
}

export function ReportPage({ tabs, operates }: { tabs: ComponentChildren; operates: boolean }) {
  const [all] = useState(() => periods())
  const [period, setPeriod] = useState(all[0]!)
  const [key, setKey] = useState('')
  const [by, setBy] = useState<Exclude<By, 'day'>>('route')
  const scope = { since: period.since, until: period.until, key }
  const days = useAsked<Report>(reportPath('day', scope), 30_000)
  const groups = useAsked<Report>(reportPath(by, scope), 30_000)
  const keys = useAsked<Report>(reportPath('key', { ...scope, key: '' }))
  const keyName = useKeyNames(operates)
  const ids = (keys.value?.groups ?? []).flatMap((group) => group.name ?? [])
  if (key && !ids.includes(key)) ids.push(key)
  const report = days.value
  const byName = t(BY.find((one) => one.value === by)!.name)
  return (
    <Page
      title={t('costs')}
      text={t('reportIntro')}
      actions={
        <button type="button" class="button unprinted" onClick={() => print()}>
          <Printer size={16} />
          {t('reportPrint')}
        </button>
      }
    >
      {tabs}
      <div class="report-scope unprinted">
        <Select
          name={t('reportPeriod')}
          value={period.id}
          choices={all.map((one) => ({ value: one.id, name: periodName(one) }))}
          onChange={(id) => setPeriod(all.find((one) => one.id === id)!)}
        />
        <Select
          name={t('reportKey')}
          value={key}
          choices={[
            { value: '', name: t('reportAllKeys') },
            ...ids.map((id) => ({ value: id, name: keyName(id) })),
          ]}
          onChange={setKey}
        />
        <Select
          name={t('reportBy')}
          value={by}
          choices={BY.map((one) => ({ value: one.value, name: t(one.name) }))}
          onChange={setBy}
        />
      </div>
      <p class="printed">
        {periodName(period)} · {key ? keyName(key) : t('reportAllKeys')}
      </p>
      {days.error ? <Failure error={days.error} onRetry={days.again} /> : null}
      {!report && !days.error && <Loading />}
      {report?.exchanges === 0 && <Empty>{t('reportEmpty')}</Empty>}
      {report && report.exchanges > 0 && (
        <>
          <Totals report={report} />
          <Course key={period.id} report={report} period={period} />
          {groups.value && (
            <Groups
              report={groups.value}
              name={byName}
              nameOf={by === 'key' ? keyName : (name) => name ?? t('reportNone')}
            />
          )}
          <p class="muted report-note">{t('reportNote')}</p>
        </>
      )}
    </Page>
  )
}

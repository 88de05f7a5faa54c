// Who may ask, how much, and what each has spent.
import { KeyRound } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { KEYS, type Key, type KeyList, type Limits, type Tenant } from '../../api/keys'
import { useAsked } from '../../api/use-asked'
import { language, t } from '../../texts'
import { Failure } from '../../ui/failure'
import { money } from '../../ui/format'
import { Empty, Loading, Page, Table } from '../../ui/page'
import { AddDialog, LimitsDialog, RevokeDialog, saveKey, saveTenant } from './dialogs'
import { limitTexts } from './limits'

const POLL_MS = 10_000

type Open =
  | { what: 'add' }
  | { what: 'limits'; key: Key }
  | { what: 'tenant'; tenant: Tenant }
  | { what: 'revoke'; key: Key }

const dateText = (atS: number | null) =>
  atS ? new Date(atS * 1000).toLocaleDateString(language(), { dateStyle: 'medium' }) : t('keyNever')

/** What was spent, beside its limit where there is one. */
function Spent({ usd, limit }: { usd: number | undefined; limit: number | undefined }) {
  const spent = money(usd ?? 0)
  if (limit === undefined) return <>{spent}</>
  return <>{t('keySpentOf', { spent, limit: money(limit) })}</>
}

function Limited({ limits }: { limits: Limits }) {
  const texts = limitTexts(limits)
  return <>{texts.length ? texts.join(' · ') : t('keyNoLimits')}</>
}

function State({ of }: { of: Key }) {
  if (of.state === 'live') return null
  return <span class="badge">{t(of.state === 'revoked' ? 'keyRevoked' : 'keyExpired')}</span>
}

function KeyTable({ keys, onOpen }: { keys: Key[]; onOpen: (open: Open) => void }) {
  return (
    <Table<Key>
      caption={t('keysTab')}
      rows={keys}
      rowKey={(key) => key.id}
      columns={[
        {
          name: t('keyName'),
          cell: (key) => (
            <span class="key-name">
              <span>
                {key.name} <State of={key} />
              </span>
              <small>
                {key.operator ? t('roleOperator') : key.role ? t('roleReviewer') : t('roleViewer')}
                {key.tenant && ` · ${key.tenant}`}
              </small>
            </span>
          ),
        },
        {
          name: t('keyToday'),
          number: true,
          cell: (key) => <Spent usd={key.spent?.day.usd} limit={key.usd_per_day} />,
        },
        {
          name: t('keyMonth'),
          number: true,
          cell: (key) => <Spent usd={key.spent?.month.usd} limit={key.usd_per_month} />,
        },
        { name: t('keyLimits'), cell: (key) => <Limited limits={key} /> },
        { name: t('keyLastUsed'), cell: (key) => dateText(key.last_used) },
        {
          name: t('keyActions'),
          cell: (key) =>
            key.state !== 'revoked' && (
              <span class="actions">
                <button
                  type="button"
                  class="button quiet"
                  aria-label={t('keyLimitsOf', { name: key.name })}
                  onClick={() => onOpen({ what: 'limits', key })}
                >
                  {t('keyChange')}
                </button>
                <button
                  type="button"
                  class="button quiet"
                  aria-label={t('keyRevokeOf', { name: key.name })}
                  onClick={() => onOpen({ what: 'revoke', key })}
                >
                  {t('keyRevoke')}
                </button>
              </span>
            ),
        },
      ]}
    />
  )
}

function TenantTable({ tenants, onOpen }: { tenants: Tenant[]; onOpen: (open: Open) => void }) {
  return (
    <>
      <h2>{t('keyTenants')}</h2>
      <Table<Tenant>
        caption={t('keyTenants')}
        rows={tenants}
        rowKey={(tenant) => tenant.name}
        columns={[
          { name: t('keyTenant'), cell: (tenant) => tenant.name },
          {
            name: t('keyToday'),
            number: true,
            cell: (one) => <Spent usd={one.spent?.day.usd} limit={one.usd_per_day} />,
          },
          {
            name: t('keyMonth'),
            number: true,
            cell: (one) => <Spent usd={one.spent?.month.usd} limit={one.usd_per_month} />,
          },
          { name: t('keyLimits'), cell: (tenant) => <Limited limits={tenant} /> },
          {
            name: t('keyActions'),
            cell: (tenant) => (
              <button
                type="button"
                class="button quiet"
                aria-label={t('keyLimitsOf', { name: tenant.name })}
                onClick={() => onOpen({ what: 'tenant', tenant })}
              >
                {t('keyChange')}
              </button>
            ),
          },
        ]}
      />
    </>
  )
}

/** The tenants that keys name: sums are the server's, or where it has none, those of their keys. */
function tenantsOf({ data, tenants }: KeyList): Tenant[] {
  const known = new Set(tenants.map((tenant) => tenant.name))
  const sums = new Map<string, Tenant>()
  for (const { tenant, spent, state } of data) {
    if (!tenant || known.has(tenant) || (state !== 'live' && !sums.has(tenant))) continue
    const none = { day: { usd: 0, tokens: 0 }, month: { usd: 0, tokens: 0 } }
    const one = sums.get(tenant) ?? { name: tenant, spent: none }
    one.spent!.day.usd += spent?.day.usd ?? 0
    one.spent!.month.usd += spent?.month.usd ?? 0
    sums.set(tenant, one)
  }
  return [...tenants, ...sums.values()]
}

export function Keys({ tabs }: { tabs: ComponentChildren }) {
  const list = useAsked<KeyList>(KEYS, POLL_MS)
  const [open, setOpen] = useState<Open | null>(null)
  const close = { onClose: () => setOpen(null), onDone: list.again }
  const keys = list.value?.data ?? []
  const tenants = list.value ? tenantsOf(list.value) : []
  return (
    <Page
      title={t('costs')}
      text={t('keysIntro')}
      actions={
        <button type="button" class="button main" onClick={() => setOpen({ what: 'add' })}>
          <KeyRound size={16} />
          {t('keyAdd')}
        </button>
      }
    >
      {tabs}
      {list.error ? <Failure error={list.error} onRetry={list.again} /> : null}
      {!list.value && !list.error && <Loading />}
      {list.value && !keys.length && <Empty>{t('keysEmpty')}</Empty>}
      {keys.length > 0 && <KeyTable keys={keys} onOpen={setOpen} />}
      {tenants.length > 0 && <TenantTable tenants={tenants} onOpen={setOpen} />}
      {open?.what === 'add' && (
        <AddDialog first={!keys.some((key) => key.operator && key.state === 'live')} {...close} />
      )}
      {open?.what === 'limits' && (
        <LimitsDialog
          title={t('keyLimitsOf', { name: open.key.name })}
          limits={open.key}
          save={saveKey(open.key)}
          {...close}
        />
      )}
      {open?.what === 'tenant' && (
        <LimitsDialog
          title={t('keyLimitsOf', { name: open.tenant.name })}
          limits={open.tenant}
          save={saveTenant(open.tenant)}
          {...close}
        />
      )}
      {open?.what === 'revoke' && <RevokeDialog what={open.key} {...close} />}
    </Page>
  )
}

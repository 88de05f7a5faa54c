// What changes a key. The key itself is shown once, when it is made, and never again.
import { useState } from 'preact/hooks'
import {
  addKey,
  limitKey,
  limitTenant,
  revokeKey,
  type Key,
  type Limits,
  type Tenant,
  type Wish,
} from '../../api/keys'
import { openSession, showSession } from '../../api/session'
import { t } from '../../texts'
import { Command } from '../../ui/copy'
import { Failure } from '../../ui/failure'
import { Field, Select } from '../../ui/field'
import { Dialog } from '../../ui/page'
import { formOf, LimitFields, wishOf, type Form } from './limits'

interface Closing {
  onClose: () => void
  onDone: () => void // something changed
}

/** Runs what a dialog is for, once at a time. */
function useWork(done: () => void) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = (work: () => Promise<unknown>) => {
    setBusy(true)
    setError(null)
    work().then(done, (reason) => {
      setError(reason)
      setBusy(false)
    })
  }
  return { busy, error, run }
}

type RoleChoice = 'client' | 'reviewer' | 'operator'

function whoOf(form: Form, role: RoleChoice): Wish {
  const wish: Wish = { name: form['name']!.trim() }
  if (form['tenant']?.trim()) wish['tenant'] = form['tenant'].trim()
  if (role === 'operator') wish['operator'] = true
  if (role === 'reviewer') Object.assign(wish, { role: 'reviewer', clearance: form['clearance']! })
  return wish
}

function Fresh({ made, onClose }: { made: Key; onClose: () => void }) {
  return (
    <Dialog title={t('keyMade', { name: made.name })} onClose={onClose}>
      <p>{t('keyOnce')}</p>
      <Command text={made.key ?? ''} />
      <div class="actions">
        <button type="button" class="button main" onClick={onClose}>
          {t('keyKept')}
        </button>
      </div>
    </Dialog>
  )
}

interface WhoProps {
  form: Form
  role: RoleChoice
  onForm: (form: Form) => void
  onRole: (role: RoleChoice) => void
}

function WhoFields({ form, role, onForm, onRole }: WhoProps) {
  const input = (name: string, label: string, hint: string, required: boolean) => (
    <Field name={label} hint={hint}>
      {(id) => (
        <input
          id={id}
          class="input"
          required={required}
          autoComplete="off"
          value={form[name] ?? ''}
          onInput={(event) => onForm({ ...form, [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  )
  return (
    <>
      <div class="two">
        {input('name', t('keyName'), t('keyNameHint'), true)}
        {input('tenant', t('keyTenant'), t('keyTenantHint'), false)}
      </div>
      <Select
        name={t('keyRole')}
        value={role}
        choices={[
          { value: 'client', name: t('keyRoleClient') },
          { value: 'reviewer', name: t('keyRoleReviewer') },
          { value: 'operator', name: t('keyRoleOperator') },
        ]}
        onChange={onRole}
      />
      {role === 'reviewer' && (
        <Select
          name={t('keyClearance')}
          value={form['clearance']!}
          choices={[
            { value: 'public', name: t('classPublic') },
            { value: 'sensitive', name: t('classSensitive') },
            { value: 'contractual', name: t('classContractual') },
            { value: 'restricted', name: t('classRestricted') },
          ]}
          onChange={(value) => onForm({ ...form, clearance: value })}
        />
      )}
    </>
  )
}

/** Where no key was needed before, the page would be shut out now: it goes on with the new one. */
async function stayIn(made: Key): Promise<Key> {
  if (made.key && !(await showSession()).role) await openSession(made.key)
  return made
}

/** first: nobody is the operator by name yet, so this key has to be. */
export function AddDialog({ first, onClose, onDone }: Closing & { first: boolean }) {
  const [form, setForm] = useState<Form>({ ...formOf({}), clearance: 'public' })
  const [role, setRole] = useState<RoleChoice>(first ? 'operator' : 'client')
  const [made, setMade] = useState<Key | null>(null)
  const work = useWork(() => {})
  const submit = (event: Event) => {
    event.preventDefault()
    work.run(async () => {
      setMade(await stayIn(await addKey({ ...whoOf(form, role), ...wishOf(form, {}) })))
    })
  }
  const close = () => {
    if (made) onDone()
    onClose()
  }
  if (made) return <Fresh made={made} onClose={close} />
  return (
    <Dialog title={t('keyAdd')} onClose={onClose}>
      <form class="key-form" onSubmit={submit}>
        {first && <p class="note">{t('keyFirst')}</p>}
        <WhoFields form={form} role={role} onForm={setForm} onRole={setRole} />
        <details>
          <summary>{t('keyLimits')}</summary>
          <div class="key-form">
            <LimitFields form={form} onChange={setForm} />
          </div>
        </details>
        {work.error ? <Failure error={work.error} /> : null}
        <div class="actions">
          <button class="button main" disabled={work.busy}>
            {t('keyMake')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

export function LimitsDialog({
  title,
  limits,
  save,
  onClose,
  onDone,
}: Closing & { title: string; limits: Limits; save: (wish: Wish) => Promise<unknown> }) {
  const [form, setForm] = useState(() => formOf(limits))
  const work = useWork(() => {
    onDone()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="key-form"
        onSubmit={(event) => {
          event.preventDefault()
          work.run(() => save(wishOf(form, limits)))
        }}
      >
        <LimitFields form={form} onChange={setForm} />
        {work.error ? <Failure error={work.error} /> : null}
        <div class="actions">
          <button class="button main" disabled={work.busy}>
            {t('limitSave')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

export const saveKey = (key: Key) => (wish: Wish) => limitKey(key.id, wish)
export const saveTenant = (tenant: Tenant) => (wish: Wish) => limitTenant(tenant.name, wish)

export function RevokeDialog({ what, onClose, onDone }: Closing & { what: Key }) {
  const work = useWork(() => {
    onDone()
    onClose()
  })
  return (
    <Dialog title={t('keyRevokeAsk', { name: what.name })} onClose={onClose}>
      <p>{t('keyRevokeText')}</p>
      {work.error ? <Failure error={work.error} /> : null}
      <div class="actions">
        <button
          type="button"
          class="button main"
          disabled={work.busy}
          onClick={() => work.run(() => revokeKey(what.id))}
        >
          {t('keyRevokeYes')}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {t('cancel')}
        </button>
      </div>
    </Dialog>
  )
}

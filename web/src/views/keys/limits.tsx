// The limits of a key or a tenant: read from the form, and told in words.
import type { Limits, Wish } from '../../api/keys'
import { t, type TextName } from '../../texts'
import { Field, Select } from '../../ui/field'
import { money, number } from '../../ui/format'
import { CLASS_NAMES } from '../../ui/data-class'

const NUMBERS = [
  ['usd_per_day', 'limitUsdDay'],
  ['usd_per_month', 'limitUsdMonth'],
  ['requests_per_minute', 'limitRequests'],
  ['tokens_per_minute', 'limitTokens'],
  ['tokens_per_day', 'limitTokensDay'],
  ['tokens_per_month', 'limitTokensMonth'],
] as const satisfies [keyof Limits, TextName][]

export type Form = Record<string, string>

export function formOf(limits: Limits): Form {
  const form: Form = { when_spent: limits.when_spent ?? 'refuse' }
  for (const [name] of NUMBERS) form[name] = limits[name] === undefined ? '' : String(limits[name])
  form['models'] = (limits.models ?? []).join(', ')
  form['tiers'] = (limits.tiers ?? []).join(', ')
  return form
}

const listOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)

/** What the form changes: an empty field lifts a limit. */
export function wishOf(form: Form, before: Limits): Wish {
  const was = formOf(before)
  const wish: Wish = {}
  for (const [name] of NUMBERS)
    if (form[name] !== was[name]) wish[name] = form[name] ? Number(form[name]) : null
  if (form['when_spent'] !== was['when_spent']) wish['when_spent'] = form['when_spent']!
  for (const name of ['models', 'tiers'])
    if (form[name] !== was[name]) wish[name] = form[name]?.trim() ? listOf(form[name]) : null
  return wish
}

interface Props {
  form: Form
  onChange: (form: Form) => void
}

export function LimitFields({ form, onChange }: Props) {
  const input = (name: string, text: TextName, hint?: TextName, more = {}) => (
    <Field name={t(text)} {...(hint ? { hint: t(hint) } : {})} key={name}>
      {(id) => (
        <input
          id={id}
          class="input"
          value={form[name]}
          onInput={(event) => onChange({ ...form, [name]: event.currentTarget.value })}
          {...more}
        />
      )}
    </Field>
  )
  return (
    <>
      <p class="muted">{t('limitHint')}</p>
      <div class="two">
        {NUMBERS.map(([name, text]) =>
          input(name, text, undefined, {
            type: 'number',
            min: 0,
            step: name.startsWith('usd') ? 'any' : 1,
            inputMode: 'decimal',
          }),
        )}
      </div>
      <Select
        name={t('limitWhenSpent')}
        value={form['when_spent'] as 'refuse' | 'local'}
        choices={[
          { value: 'refuse', name: t('limitRefuse') },
          { value: 'local', name: t('limitLocal') },
        ]}
        onChange={(value) => onChange({ ...form, when_spent: value })}
      />
      <div class="two">
        {input('models', 'limitModels', 'limitModelsHint', { placeholder: 'auto, gpt-*' })}
        {input('tiers', 'limitTiers', undefined, { placeholder: 'local, cloud' })}
      </div>
    </>
  )
}

/** Each limit that is set, in words. */
export function limitTexts(limits: Limits): string[] {
  const out: string[] = []
  for (const [name, text] of NUMBERS) {
    const value = limits[name]
    if (value !== undefined)
      out.push(`${t(text)}: ${name.startsWith('usd') ? money(value) : number(value)}`)
  }
  if (limits.when_spent === 'local') out.push(t('limitLocal'))
  if (limits.models) out.push(`${t('limitModels')}: ${limits.models.join(', ')}`)
  if (limits.tiers) out.push(`${t('limitTiers')}: ${limits.tiers.join(', ')}`)
  if (limits.classes)
    out.push(`${t('dataClass')}: ${limits.classes.map((one) => t(CLASS_NAMES[one])).join(', ')}`)
  return out
}

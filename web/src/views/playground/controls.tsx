// How a question is asked. A further control is one more element of the panel, and a member of
// Settings in request.ts.
import { X } from 'lucide-preact'
import type { DataClass, Mode, Model } from '../../api/types'
import { t, type TextName } from '../../texts'
import { Field, Select } from '../../ui/field'
import { CLASS_NAMES } from '../../ui/data-class'
import { WeightsField } from '../../ui/weights'
import type { Settings } from './request'
import { checkTools } from './tools'

const MODES: [Mode, TextName][] = [
  ['auto', 'modeAuto'],
  ['only-local', 'modeOnlyLocal'],
  ['prefer-local', 'modePreferLocal'],
  ['prefer-cloud', 'modePreferCloud'],
  ['only-cloud', 'modeOnlyCloud'],
]
const TOOLS_EXAMPLE = `[
  {
    "type": "function",
    "function": {
      "name": "get_weather",
      "description": "The weather of a city",
      "parameters": {
        "type": "object",
        "properties": { "city": { "type": "string" } },
        "required": ["city"]
      }
    }
  }
]`
const DEADLINES_S = [1, 2, 5, 10, 30]

interface Props {
  settings: Settings
  models: Model[]
  onChange: (settings: Settings) => void
  onClose: () => void
}

export function Controls({ settings, models, onChange, onClose }: Props) {
  const set = (part: Partial<Settings>) => onChange({ ...settings, ...part })
  return (
    <aside
      class="controls"
      aria-label={t('controls')}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header>
        <h2>{t('controls')}</h2>
        <button
          type="button"
          class="button quiet icon close"
          aria-label={t('close')}
          onClick={onClose}
        >
          <X size={17} />
        </button>
      </header>
      <Select
        name={t('model')}
        hint={t('modelHint')}
        value={settings.model}
        choices={modelChoices(models, settings.model)}
        onChange={(model) => set({ model })}
      />
      <Select
        name={t('mode')}
        value={settings.mode}
        choices={MODES.map(([value, name]) => ({ value, name: t(name) }))}
        onChange={(mode) => set({ mode })}
      />
      <Select<DataClass | ''>
        name={t('classAtLeast')}
        hint={t('classHint')}
        value={settings.dataClass}
        choices={[
          { value: '', name: t('classFound') },
          ...(Object.keys(CLASS_NAMES) as DataClass[])
            .slice(1) // every text is at least public
            .map((value) => ({ value, name: t(CLASS_NAMES[value]) })),
        ]}
        onChange={(dataClass) => set({ dataClass })}
      />
      <Select
        name={t('deadline')}
        value={String(settings.deadlineS)}
        choices={[
          { value: '0', name: t('deadlineNone') },
          ...DEADLINES_S.map((s) => ({
            value: String(s),
            name: t('deadlineSeconds', { seconds: s }),
          })),
        ]}
        onChange={(value) => set({ deadlineS: Number(value) })}
      />
      <WeightsField value={settings.weights} onChange={(weights) => set({ weights })} />
      <Field name={t('systemPrompt')} hint={t('systemHint')}>
        {(id) => (
          <textarea
            id={id}
            class="input"
            rows={4}
            placeholder={t('systemPlaceholder')}
            value={settings.system}
            onInput={(event) => set({ system: event.currentTarget.value })}
          />
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={settings.heat}
          onChange={(event) => set({ heat: event.currentTarget.checked })}
        />
        <span>
          {t('heat')}
          <span class="hint">{t('heatHint')}</span>
        </span>
      </label>
      <ToolsField value={settings.tools} onChange={(tools) => set({ tools })} />
    </aside>
  )
}

function ToolsField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { tools, wrong } = checkTools(value)
  return (
    <div class="tools-field">
      <Field name={t('tools')} hint={t('toolsHint')}>
        {(id) => (
          <textarea
            id={id}
            class="input"
            rows={6}
            spellcheck={false}
            aria-invalid={wrong !== ''}
            value={value}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )}
      </Field>
      <p class={wrong ? 'wrong' : 'hint'} role="status">
        {wrong || (tools.length > 0 && t('toolsFine', { count: tools.length }))}
      </p>
      {!value && (
        <button type="button" class="button" onClick={() => onChange(TOOLS_EXAMPLE)}>
          {t('toolsExample')}
        </button>
      )}
    </div>
  )
}

function modelChoices(models: Model[], chosen: string) {
  const usable = models.filter((model) => model.tandem?.usable !== false || model.id === chosen)
  const names = usable.map((model) => model.id)
  if (!names.includes(chosen)) names.unshift(chosen)
  return names.map((id) => ({ value: id, name: id }))
}

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Choice<T extends string> {
  value: T
  name: string
}

interface SelectProps<T extends string> {
  name: string
  hint?: string
  value: T
  choices: Choice<T>[]
  onChange: (value: T) => void
}

export function Select<T extends string>({ name, hint, value, choices, onChange }: SelectProps<T>) {
  const id = useId()
  return (
    <div class="field">
      <label class="name" for={id}>
        {name}
      </label>
      <select
        id={id}
        class="input"
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </select>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}

interface FieldProps {
  name: string
  hint?: string
  children: (id: string) => ComponentChildren
}

/** A label above what `children` draws with the id. */
export function Field({ name, hint, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label class="name" for={id}>
        {name}
      </label>
      {children(id)}
      {hint && <span class="hint">{hint}</span>}
    </div>
  )
}

// What most views are made of: a head, figures in a row, a table that fits a phone, a dialog.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { X } from 'lucide-preact'
import { t } from '../texts'

interface PageProps {
  title: string
  text?: ComponentChildren // one or two sentences: what this is and what it is for
  actions?: ComponentChildren
  children: ComponentChildren
}

export function Page({ title, text, actions, children }: PageProps) {
  return (
    <div class="page stack">
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {text && <p>{text}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** What stands where there is nothing yet: what would be here, and how to get it. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>
}

export function Loading() {
  return (
    <p class="boot" role="status">
      {t('loading')}
    </p>
  )
}

export interface Figure {
  name: string
  value: ComponentChildren
  hint?: ComponentChildren
}

export function Figures({ figures }: { figures: Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, hint }) => (
        <div class="figure" key={name}>
          <dt>{name}</dt>
          <dd>
            <span class={typeof value === 'string' && value.length > 9 ? 'value long' : 'value'}>
              {value}
            </span>
            {hint && <span class="hint">{hint}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

export interface Column<Row> {
  name: string
  cell: (row: Row) => ComponentChildren
  number?: boolean // set at the end of the line, digits of one width
}

interface TableProps<Row> {
  caption: string // read aloud, not shown
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => string
}

/** On a phone each row is a card, and each cell has its column's name. */
export function Table<Row>({ caption, columns, rows, rowKey }: TableProps<Row>) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={column.number ? 'number' : ''}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td
                  key={column.name}
                  data-name={column.name}
                  class={column.number ? 'number' : ''}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** Modal while it is drawn. Escape, the cross and a click beside it close it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-body stack">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button
            type="button"
            class="button quiet icon"
            aria-label={t('close')}
            onClick={() => dialog.current?.close()}
          >
            <X size={17} />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

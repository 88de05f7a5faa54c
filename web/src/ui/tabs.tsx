// The parts of a view, each with an address of its own: #/privacy/left.
import { useEffect, useRef } from 'preact/hooks'
import { hrefOf } from '../router'

export interface Tab {
  rest: string // '' of the first
  name: string
}

interface Props {
  label: string
  view: string
  rest: string // what the address says
  tabs: Tab[]
}

export const tabOf = (tabs: Tab[], rest: string) =>
  tabs.find((tab) => tab.rest === rest) ?? tabs[0]!

export function Tabs({ label, view, rest, tabs }: Props) {
  const current = tabOf(tabs, rest)
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current.rest])
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map((tab) => (
        <a
          key={tab.rest}
          href={hrefOf(view, tab.rest)}
          aria-current={tab === current ? 'page' : undefined}
        >
          {tab.name}
        </a>
      ))}
    </nav>
  )
}

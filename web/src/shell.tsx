// The frame: navigation, language, theme, and the view inside.
import { Languages, LogOut, Moon, Sun } from 'lucide-preact'
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Role, Session } from './api/types'
import { hrefOf } from './router'
import { language, languages, setLanguage, t, type TextName } from './texts'
import { Failure } from './ui/failure'
import { theme, toggleTheme } from './ui/theme'
import type { View, ViewProps } from './views'

const ROLE_NAMES: Record<Role, TextName> = {
  viewer: 'roleViewer',
  reviewer: 'roleReviewer',
  operator: 'roleOperator',
  admin: 'roleAdmin',
}

interface Props {
  views: View[]
  view: View
  rest: string
  session: Session
  onSignOut: (() => void) | null
}

function Choices({ onSignOut }: { onSignOut: (() => void) | null }) {
  const [now, setNow] = useState(theme)
  const tags = Object.keys(languages)
  const next = tags[(tags.indexOf(language()) + 1) % tags.length]!
  return (
    <div class="choices">
      <button
        type="button"
        class="button quiet icon"
        title={t('theme')}
        aria-label={t('theme')}
        onClick={() => setNow(toggleTheme())}
      >
        {now === 'dark' ? <Sun size={17} /> : <Moon size={17} />}
      </button>
      <button type="button" class="button quiet" lang={next} onClick={() => setLanguage(next)}>
        <Languages size={17} />
        {languages[next]!.texts.language}
      </button>
      {onSignOut && (
        <button
          type="button"
          class="button quiet icon"
          title={t('signOut')}
          aria-label={t('signOut')}
          onClick={onSignOut}
        >
          <LogOut size={17} />
        </button>
      )}
    </div>
  )
}

/** A view's code comes when it is first looked at. */
function Loaded({ view, rest, role }: { view: View; rest: string; role: Role }) {
  const [found, setFound] = useState<{ id: string; View: ComponentType<ViewProps> } | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    let current = true
    setError(null)
    view.load().then(
      (module) => current && setFound({ id: view.id, View: module.default }),
      (reason) => current && setError(reason),
    )
    return () => void (current = false)
  }, [view])
  if (error) return <div class="page"><Failure error={error} onRetry={() => location.reload()} /></div>
  if (found?.id !== view.id) return <p class="boot" role="status">{t('loading')}</p>
  return <found.View rest={rest} role={role} />
}

export function Shell({ views, view, rest, session, onSignOut }: Props) {
  const main = useRef<HTMLElement>(null)
  const seen = useRef(view.id)
  useEffect(() => {
    document.title = `${t(view.title)} · Tandem`
    if (seen.current !== view.id) main.current?.focus()
    seen.current = view.id
  })
  return (
    <div class="shell">
      <header class="side">
        <a class="skip" href={location.hash || '#/'} onClick={() => main.current?.focus()}>
          {t('skip')}
        </a>
        <div class="brand">
          <img src="/console/icon.svg" alt="" />
          Tandem
        </div>
        <nav aria-label={t('navigation')} class={views.length > 1 ? '' : 'single'}>
          <ul class="places">
            {views.map((one) => (
              <li key={one.id}>
                <a href={hrefOf(one.id)} aria-current={one.id === view.id ? 'page' : undefined}>
                  <one.icon size={18} />
                  <span>{t(one.title)}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <Choices onSignOut={onSignOut} />
          <div class="who">
            {session.role && t(ROLE_NAMES[session.role])} · {session.version}
          </div>
        </div>
      </header>
      <main class="content" ref={main} tabIndex={-1}>
        <Loaded view={view} rest={rest} role={session.role!} />
      </main>
    </div>
  )
}

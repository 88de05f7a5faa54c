// Who is there, and the view that the address names.
import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError, whenSignedOut } from './api/client'
import { closeSession, may, showSession } from './api/session'
import type { Session } from './api/types'
import { Login } from './login'
import { useAddress } from './router'
import { Shell } from './shell'
import { t, useLanguage } from './texts'
import { Failure } from './ui/failure'
import { views } from './views'

export function App() {
  useLanguage()
  const address = useAddress()
  const [session, setSession] = useState<Session | null>(null)
  const [ended, setEnded] = useState(false)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const load = useCallback(() => {
    setFailure(null)
    showSession().then(setSession, setFailure)
  }, [])
  useEffect(() => {
    load()
    whenSignedOut(() => {
      setEnded(true)
      setSession((now) => now && { ...now, role: null })
    })
  }, [load])

  if (failure)
    return (
      <main class="alone">
        <Failure error={failure} onRetry={load} />
      </main>
    )
  if (!session) return <p class="boot" role="status">{t('loading')}</p>
  const { role } = session
  if (!role) return <Login ended={ended} onOpen={setSession} />
  const seen = views.filter((view) => may(role, view.least))
  const view = seen.find((one) => one.id === address.view) ?? seen[0]!
  const signOut = session.needs_key ? () => void closeSession().then(setSession, setFailure) : null
  return (
    <Shell views={seen} view={view} rest={address.rest} session={session} onSignOut={signOut} />
  )
}

// The playground: a conversation, and with each answer where it came from and why.
import { CodeXml, Plus, SlidersHorizontal } from 'lucide-preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../../api/client'
import { may } from '../../api/session'
import type { Capabilities, Model } from '../../api/types'
import { t } from '../../texts'
import { Failure } from '../../ui/failure'
import type { ViewProps } from '../../views'
import { AnswerCard } from './answer'
import type { Attachment } from './attachments'
import { BesideChoice, BesideToggle, PairCard, tiersOf } from './beside'
import { CodeDialog } from './code-dialog'
import { Composer } from './composer'
import { Controls } from './controls'
import { isUndecided, messagesOf, question, type Turn } from './conversation'
import { maskedExchanges } from './masked'
import './playground.css'
import { QuestionCard } from './question'
import { requestOf, usualSettings } from './request'
import { Start } from './start'
import { ResultsCard } from './tool-calls'
import { useConversation } from './use-conversation'

function useServer() {
  const [capabilities, setCapabilities] = useState<Capabilities | null>(null)
  const [models, setModels] = useState<Model[]>([])
  const [error, setError] = useState<unknown>(null)
  const read = (failed: (why: unknown) => void) => {
    ask<Capabilities>('/tandem/v1/capabilities').then(setCapabilities, failed)
    ask<{ data: Model[] }>('/v1/models').then((list) => setModels(list.data), failed)
  }
  const load = () => {
    setError(null)
    read(setError)
  }
  useEffect(() => {
    load()
    // Whoever comes back from a terminal may have connected a cloud there, or taken another model.
    const again = () => read(() => {})
    addEventListener('focus', again)
    return () => removeEventListener('focus', again)
  }, [])
  return { capabilities, models, error, load }
}

/** The end of the conversation stays in sight, unless somebody has scrolled up to read. */
function useFollow(turns: Turn[]) {
  const list = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const onScroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = list.current!
    follows.current = scrollTop + clientHeight > scrollHeight - 80
  }
  useEffect(() => {
    const element = list.current
    if (element && follows.current && turns.length) element.scrollTop = element.scrollHeight
  }, [turns])
  return { list, onScroll, follow: () => (follows.current = true) }
}

export default function Playground({ role }: ViewProps) {
  const { capabilities, models, error, load } = useServer()
  const [settings, setSettings] = useState(usualSettings)
  const [open, setOpen] = useState(() => matchMedia('(min-width: 75rem)').matches)
  const [coding, setCoding] = useState(false)
  const [beside, setBeside] = useState<[string, string] | null>(null)
  const talk = useConversation(settings, beside)
  const { list, onScroll, follow } = useFollow(talk.turns)
  const askNow = (text: string, files: Attachment[] = []) => {
    follow()
    talk.ask(text, files)
  }
  const giveBack = (texts: string[]) => {
    follow()
    talk.giveBack(texts)
  }
  const sees = capabilities?.tiers.some((tier) => tier.up && tier.can.includes('image')) ?? false
  /** Of the last question, or of one that could be asked. */
  const lastRequest = () => {
    const at = talk.turns.findLastIndex((turn) => turn.role === 'user' || turn.role === 'tool')
    const turns = at < 0 ? [question(t('trySum'))] : talk.turns.slice(0, at + 1)
    return requestOf(messagesOf(turns, settings.system), settings)
  }
  const tiers = tiersOf(models)
  const changed = JSON.stringify(settings) !== JSON.stringify(usualSettings)
  return (
    <div class={`playground ${open ? 'with-controls' : ''}`}>
      <h1 class="unseen">{t('playground')}</h1>
      <div class="talk">
        <div class="turns" ref={list} onScroll={onScroll}>
          <div class="column" role="log" aria-live="off">
            {error ? <Failure error={error} onRetry={load} /> : null}
            {!talk.turns.length && capabilities && (
              <Start
                capabilities={capabilities}
                canPull={may(role, 'operator')}
                onAsk={askNow}
              />
            )}
            {talk.turns.map((turn, at) =>
              turn.role === 'user' ? (
                <QuestionCard
                  key={turn.id}
                  turn={turn}
                  masked={maskedExchanges(talk.turns[at + 1])}
                  onEdit={(text) => talk.askAgain(turn.id, text)}
                />
              ) : turn.role === 'tool' ? (
                <ResultsCard key={turn.id} turn={turn} />
              ) : turn.role === 'pair' ? (
                <PairCard
                  key={turn.id}
                  turn={turn}
                  tiers={tiers}
                  heat={settings.heat}
                  onKeep={(side) => {
                    talk.keep(turn.id, side)
                    document.querySelector<HTMLElement>('.composer textarea')?.focus()
                  }}
                  onAgain={at === talk.turns.length - 1 ? () => talk.askAgain(talk.turns[at - 1]!.id) : null}
                />
              ) : (
                <AnswerCard
                  key={turn.id}
                  answer={turn}
                  heat={settings.heat}
                  onResults={at === talk.turns.length - 1 ? giveBack : null}
                  onAgain={at === talk.turns.length - 1 ? () => talk.askAgain(talk.turns[at - 1]!.id) : null}
                />
              ),
            )}
          </div>
        </div>
        <Composer
          running={talk.running}
          sees={sees}
          blocked={isUndecided(talk.turns.at(-1)) ? t('besideChoose') : ''}
          above={<BesideChoice tiers={tiers} value={beside} onChange={setBeside} />}
          onAsk={askNow}
          onStop={talk.stop}
          tools={
            <>
              <button
                type="button"
                class={`button quiet ${changed ? 'changed' : ''}`}
                aria-expanded={open}
                onClick={() => setOpen(!open)}
              >
                <SlidersHorizontal size={16} />
                {t('controlsOpen')}
              </button>
              <button
                type="button"
                class="button quiet"
                aria-label={t('code')}
                title={t('codeTitle')}
                onClick={() => setCoding(true)}
              >
                <CodeXml size={16} />
                <span class="word">{t('code')}</span>
              </button>
              <BesideToggle tiers={tiers} value={beside} onChange={setBeside} />
              {talk.turns.length > 0 && (
                <button
                  type="button"
                  class="button quiet"
                  aria-label={t('newChat')}
                  title={t('newChat')}
                  onClick={talk.clear}
                >
                  <Plus size={16} />
                  <span class="word">{t('newChat')}</span>
                </button>
              )}
            </>
          }
        />
      </div>
      {coding && <CodeDialog request={lastRequest()} onClose={() => setCoding(false)} />}
      {open && <div class="scrim" onClick={() => setOpen(false)} />}
      {open && (
        <Controls
          settings={settings}
          models={models}
          onChange={setSettings}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  )
}

import { Check, CircleAlert, Columns2, History, Loader, RefreshCw, TriangleAlert } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../../texts'
import { CopyButton } from '../../ui/copy'
import { Markdown } from '../../ui/markdown'
import { placeClass, placeName } from '../../ui/place'
import { hasSaid, isRunning, type Answer } from './conversation'
import { Facts, Origin } from './facts'
import { Heat } from './heat'
import { ToolCalls } from './tool-calls'
import { said } from '../../ui/said'

/** How far the check of an answer is that may still change. */
function CheckBadge({ answer }: { answer: Answer }) {
  const found = answer.note?.verification
  const tier = found?.tier ?? answer.replaced?.tier ?? ''
  const state = found?.state ?? (answer.replaced ? 'corrected' : null)
  if (state === 'provisional')
    return (
      <span class="badge warn">
        <Loader size={13} class="turning" />
        {t('provisional', { tier })}
      </span>
    )
  if (state === 'committed')
    return (
      <span class="badge good">
        <Check size={13} />
        {t('committed', { tier })}
      </span>
    )
  if (state === 'corrected')
    return (
      <span class="badge good">
        <History size={13} />
        {t('corrected', { tier })}
      </span>
    )
  if (state)
    return (
      <span class="badge">
        <CircleAlert size={13} />
        {t('notChecked')}
      </span>
    )
  return null
}

function Before({ text }: { text: string }) {
  const [shown, setShown] = useState(false)
  return (
    <div class="before">
      <button
        type="button"
        class="button quiet"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
      >
        <History size={15} />
        {shown ? t('hideBefore') : t('showBefore')}
      </button>
      {shown && <del dir="auto">{text}</del>}
    </div>
  )
}

/** What the tier said that was asked beside the one that was kept. */
function Other({ answer, heat }: { answer: Answer; heat: boolean }) {
  const [shown, setShown] = useState(false)
  const tier = answer.note?.tier ?? ''
  const place = placeName(answer.note?.place)
  return (
    <div class="before">
      <button
        type="button"
        class="button quiet"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
      >
        <Columns2 size={15} />
        {shown ? t('besideHide') : t('besideShow', { tier: place ? `${tier} (${place})` : tier })}
      </button>
      {shown && <AnswerCard answer={answer} heat={heat} onAgain={null} onResults={null} />}
    </div>
  )
}

interface Props {
  answer: Answer
  heat: boolean // words are shaded by how sure the model was of them
  asked?: ComponentChildren // whom the question was for, where nobody has answered
  onAgain: (() => void) | null // null: it is not the last one
  onResults: ((texts: string[]) => void) | null // the same
}

/** What can be done with an answer. */
function Deeds({ answer, onAgain }: Pick<Props, 'answer' | 'onAgain'>) {
  return (
    <span class="deeds">
      {answer.text && <CopyButton text={() => answer.text} />}
      {onAgain && (
        <button
          type="button"
          class="button quiet icon"
          title={t('regenerate')}
          aria-label={t('regenerate')}
          onClick={onAgain}
        >
          <RefreshCw size={15} />
        </button>
      )}
    </span>
  )
}

export function AnswerCard({ answer, heat, asked, onAgain, onResults }: Props) {
  const { note, state, replaced } = answer
  const tokens = heat && !isRunning(answer) ? answer.tokens.of(answer.text) : []
  const provisional = note?.verification?.state === 'provisional'
  const classes = ['answer', placeClass(note?.place), provisional ? 'provisional' : '']
  if (replaced || note?.verification?.state === 'committed') classes.push('settled')
  return (
    <article class={classes.join(' ')} aria-busy={isRunning(answer)} aria-label={t('answerOf')}>
      <header>
        {note?.place ? <Origin answer={answer} /> : asked}
        {answer.model && answer.model !== note?.tier && <span class="model">{answer.model}</span>}
        {(note?.cache === 'hit' || note?.cache === 'similar') && (
          <span class="badge">{t('cached')}</span>
        )}
        <CheckBadge answer={answer} />
        {state === 'stopped' && <span class="badge">{t('stopped')}</span>}
        {!isRunning(answer) && <Deeds answer={answer} onAgain={onAgain} />}
      </header>
      {state === 'waiting' && (
        <p class="waiting" role="status">
          <span class="unseen">{t('waiting')}</span>
          <i />
          <i />
          <i />
        </p>
      )}
      {answer.text && (
        <div class="said" dir="auto">
          {tokens.length ? <Heat tokens={tokens} /> : <Markdown text={answer.text} />}
          {heat && !tokens.length && !isRunning(answer) && (
            <p class="heat-none">{t('heatNone')}</p>
          )}
        </div>
      )}
      {answer.calls.length > 0 && (
        <ToolCalls calls={answer.calls} onResults={state === 'done' ? onResults : null} />
      )}
      {replaced && replaced.before !== answer.text && <Before text={replaced.before} />}
      {state === 'failed' && (
        <div class="note bad" role="alert">
          <TriangleAlert size={17} />
          <p>{t('failed', { why: said(answer.error?.message ?? '') })}</p>
        </div>
      )}
      {!isRunning(answer) && <Facts answer={answer} />}
      {answer.other && hasSaid(answer.other) && <Other answer={answer.other} heat={heat} />}
    </article>
  )
}

// What is there before the first question: where a question can go, what to do next, what to try.
import { Cloud, HardDriveDownload, MessageCircleQuestion } from 'lucide-preact'
import type { ComponentChildren } from 'preact'
import type { Capabilities, Tier } from '../../api/types'
import { t, type TextName } from '../../texts'
import { Command } from '../../ui/copy'
import { hrefOf } from '../../router'
import { bytes } from '../../ui/format'
import { placeClass, placeName } from '../../ui/place'

const TRIES: TextName[] = ['trySum', 'tryIntent', 'tryCase', 'tryPrivate', 'tryHard']

// What comes with the program: too small for questions in general.
const EMBEDDED = 'tandem-nano'

const GB = 1e9
// Models of one family in Q4, and the memory that each needs with a context of 8,000 tokens.
const MODELS = [
  { source: 'hf:unsloth/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q4_0.gguf', size: 0.4, needs: 0 },
  { source: 'hf:unsloth/Qwen3-1.7B-GGUF:Qwen3-1.7B-Q4_0.gguf', size: 1.1, needs: 2.5 },
  { source: 'hf:unsloth/Qwen3-4B-GGUF:Qwen3-4B-Q4_0.gguf', size: 2.4, needs: 5 },
  { source: 'hf:unsloth/Qwen3-8B-GGUF:Qwen3-8B-Q4_0.gguf', size: 4.8, needs: 9 },
]

/** The largest that fits, with half of the free memory left to others. */
function modelFor(freeBytes: number) {
  return MODELS.findLast((model) => model.needs * GB * 2 <= freeBytes) ?? MODELS[0]!
}

function tierState(tier: Tier): string {
  if (tier.up) return t('tierUp')
  return tier.code === 'no_key' ? t('tierNoKey') : t('tierDown', { code: tier.code })
}

function Ladder({ tiers }: { tiers: Tier[] }) {
  return (
    <section class="ladder" aria-labelledby="ladder-title">
      <h2 id="ladder-title">{t('ladder')}</h2>
      <ol>
        {tiers.map((tier) => (
          <li key={tier.name} class={`${placeClass(tier.place)} ${tier.up ? '' : 'away'}`}>
            <span class={`dot ${tier.up ? '' : 'off'}`} aria-hidden="true" />
            <strong>{tier.name}</strong>
            <span class="model">{tier.models[0]}</span>
            <span class="where">{placeName(tier.place)}</span>
            <span class="state">{tierState(tier)}</span>
          </li>
        ))}
      </ol>
      {tiers.length > 1 && <p>{t('ladderFirst')}</p>}
    </section>
  )
}

function StepCard({ icon, title, children }: StepProps) {
  return (
    <section class="card step">
      <h2>
        {icon}
        {title}
      </h2>
      {children}
    </section>
  )
}

interface StepProps {
  icon: ComponentChildren
  title: string
  children: ComponentChildren
}

function Tries({ onAsk }: { onAsk: (text: string) => void }) {
  return (
    <ul class="tries">
      {TRIES.map((name) => (
        <li key={name}>
          <button type="button" class="button" dir="auto" onClick={() => onAsk(t(name))}>
            {t(name)}
          </button>
        </li>
      ))}
    </ul>
  )
}

function Steps({ capabilities, canPull, onAsk }: Props) {
  const { tiers, device } = capabilities
  const hasCloud = tiers.some((tier) => tier.place !== 'device' && tier.up)
  const hasModel = tiers.some(
    (tier) => tier.place === 'device' && tier.models.some((name) => name !== EMBEDDED),
  )
  const free = device.memory_free_bytes ?? 0
  const model = modelFor(free)
  const file = model.source.split(':').at(-1)!
  if (hasCloud && hasModel)
    return (
      <section>
        <h2 class="try-heading">{t('tryHeading')}</h2>
        <Tries onAsk={onAsk} />
      </section>
    )
  return (
    <div class="steps">
      <StepCard icon={<MessageCircleQuestion size={18} />} title={t('cardTry')}>
        <p>{t('cardTryText')}</p>
        <Tries onAsk={onAsk} />
      </StepCard>
      {!hasCloud && (
        <StepCard icon={<Cloud size={18} />} title={t('cardCloud')}>
          <p>{t('cardCloudText')}</p>
          <Command text="OPENAI_API_KEY=sk-... tandem serve" />
          <p class="more">{t('cardCloudMore')}</p>
        </StepCard>
      )}
      {!hasModel && (
        <StepCard icon={<HardDriveDownload size={18} />} title={t('cardModel')}>
          <p>{t('cardModelText', { memory: bytes(free), size: bytes(model.size * GB) })}</p>
          {canPull ? (
            <a class="button main" href={hrefOf('models', 'get')}>
              <HardDriveDownload size={16} />
              {t('cardModelGet')}
            </a>
          ) : (
            <>
              <Command text={`tandem models pull ${model.source}`} />
              <p class="more">{t('cardModelMore', { name: file })}</p>
            </>
          )}
        </StepCard>
      )}
    </div>
  )
}

interface Props {
  capabilities: Capabilities
  canPull: boolean // the page may get models
  onAsk: (text: string) => void
}

export function Start(props: Props) {
  const { capabilities } = props
  return (
    <div class="start">
      <h1>{t('startTitle')}</h1>
      <p class="lead">{t('startText')}</p>
      <Ladder tiers={capabilities.tiers} />
      <Steps {...props} />
    </div>
  )
}

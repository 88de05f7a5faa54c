// How the tiers and the device are.
import type { LiveDevice, LiveState, LiveTier } from '../../api/live'
import { t, type TextName } from '../../texts'
import { bytes, duration, number, percent } from '../../ui/format'
import { placeClass, placeName } from '../../ui/place'
import type { LiveModel, Sums } from './model'

const CODES: Record<string, TextName> = {
  up: 'tierUp',
  no_key: 'tierNoKey',
  unreachable: 'liveUnreachable',
  failing: 'liveFailing',
  refused: 'liveRefused',
  resting: 'liveResting',
  busy: 'liveBusy',
}

function stateOf(tier: LiveTier): string {
  const name = CODES[tier.code]
  return name ? t(name) : t('tierDown', { code: tier.code })
}

function TierRow({ tier, sums, model }: TierRowProps) {
  const times = model.percentiles([0.5, 0.95], tier.name)
  const answered = sums.byTier[tier.name] ?? 0
  return (
    <li class={placeClass(tier.place)}>
      <span class={`dot ${tier.up ? '' : 'off'}`} aria-hidden="true" />
      <strong>{tier.name}</strong>
      <span class="live-place">{placeName(tier.place)}</span>
      <span class={`live-state ${tier.up ? '' : tier.code === 'no_key' ? 'away' : 'down'}`}>
        {stateOf(tier)}
      </span>
      <span class="live-facts">
        {[
          t('liveAnswers', { count: number(answered) }),
          times && t('liveTimes', { p50: duration(times[0]!), p95: duration(times[1]!) }),
          tier.under_way ? t('liveUnderWay', { count: number(tier.under_way) }) : null,
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </li>
  )
}

interface TierRowProps {
  tier: LiveTier
  sums: Sums
  model: LiveModel
}

interface TierPanelProps extends Omit<TierRowProps, 'tier'> {
  tiers: LiveTier[]
}

export function TierPanel({ tiers, sums, model }: TierPanelProps) {
  return (
    <section class="card live-card">
      <h2>{t('liveTiers')}</h2>
      <ul class="live-tiers">
        {tiers.map((tier) => (
          <TierRow key={tier.name} tier={tier} sums={sums} model={model} />
        ))}
      </ul>
    </section>
  )
}

const NETWORKS: Record<string, TextName> = {
  online: 'liveOnline',
  offline: 'liveOffline',
  metered: 'liveMetered',
}

function heatText({ heat }: LiveDevice): string {
  if (heat?.temperature_c === null || !heat) return t('liveUnknown')
  const now = number(heat.temperature_c, 0)
  const text = heat.wall_c ? t('liveHeatOf', { now, wall: number(heat.wall_c, 0) }) : `${now} °C`
  return heat.throttled ? `${text}, ${t('liveThrottled')}` : text
}

function batteryText(device: LiveDevice): string {
  if (device.battery === null) return t('liveNoBattery')
  const charge = percent(device.battery / 100)
  return device.on_battery ? t('liveOnBattery', { charge }) : charge
}

interface DevicePanelProps {
  state: LiveState
  device: LiveDevice
}

export function DevicePanel({ state, device }: DevicePanelProps) {
  const rows: [string, string][] = [
    [t('liveHeat'), heatText(device)],
    [t('liveBattery'), batteryText(device)],
    [
      t('liveMemory'),
      device.memory_free_bytes === null ? t('liveUnknown') : bytes(device.memory_free_bytes),
    ],
  ]
  if (state.engine_bytes) rows.push([t('liveModels'), bytes(state.engine_bytes)])
  if (state.queue) {
    const { running, waiting } = state.queue
    rows.push([t('liveQueue'), t('liveQueueText', { running, waiting })])
  }
  if (NETWORKS[device.network]) rows.push([t('liveNetwork'), t(NETWORKS[device.network]!)])
  return (
    <section class="card live-card">
      <h2>{t('liveDevice')}</h2>
      {device.reason && (
        <p class="live-reason">
          <bdi>{device.reason}</bdi>
        </p>
      )}
      <dl class="live-device">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

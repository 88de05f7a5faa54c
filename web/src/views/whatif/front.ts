// The plans of which none is beaten: nothing is as cheap and better.
import type { After, Replay, TriedPolicy } from '../../api/whatif'

export interface Plan {
  policy: TriedPolicy
  cost: number // USD for 1,000 exchanges
  right: number // share
  best: boolean
}

const STEPS = 20
const KNOWN_LEAST = 0.8 // of the exchanges; means over fewer are of other exchanges each time

/** Whether it is known how right the answers would be, under each of the policies. */
export const isQualityKnown = ({ exchanges, after }: Replay) =>
  after.every((one) => one.right !== null && one.right_known >= KNOWN_LEAST * exchanges)

/** The early look at an answer must not ask for more than the look at the whole of it. */
export function keepFrom(policy: TriedPolicy, value: number, early: number | null): TriedPolicy {
  const { early_min: _, ...rest } = policy
  const lower = early !== null && value < early
  return { ...rest, confidence_min: value, ...(lower ? { early_min: value } : {}) }
}

/** Thresholds from 0 to 1, beside what else is chosen. */
export function grid(chosen: TriedPolicy, early: number | null): TriedPolicy[] {
  return Array.from({ length: STEPS + 1 }, (_, at) => keepFrom(chosen, at / STEPS, early))
}

export function plansOf(policies: TriedPolicy[], after: After[]): Plan[] {
  const plans = policies.map((policy, at) => ({
    policy,
    cost: (after[at]?.cost_usd ?? 0) * 1000,
    right: after[at]?.right ?? 0,
    best: false,
  }))
  plans.sort((a, b) => a.cost - b.cost || b.right - a.right)
  let top = -1
  for (const plan of plans) {
    plan.best = plan.right > top
    top = Math.max(top, plan.right)
  }
  return plans
}

export function yamlOf(route: string, policy: TriedPolicy): string {
  const { confidence_min, early_min, p_local_under, weights } = policy
  const lines = [`# at the route ${JSON.stringify(route)}, below "routes:"`]
  if (weights)
    lines.push(
      `weights: {latency: ${weights.latency}, privacy: ${weights.privacy}, cost: ${weights.cost}}`,
    )
  if (p_local_under !== undefined || confidence_min !== undefined) lines.push('gates:')
  if (p_local_under !== undefined) lines.push(`  g0: {p_local_under: ${p_local_under}}`)
  if (early_min !== undefined) lines.push(`  g2: {confidence_min: ${early_min}}`)
  if (confidence_min !== undefined) lines.push(`  g3: {confidence_min: ${confidence_min}}`)
  return lines.join('\n')
}

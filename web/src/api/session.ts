import { ask } from './client'
import type { Role, Session } from './types'

const PATH = '/console/session'

export const showSession = () => ask<Session>(PATH)

/** The key is sent once and not kept: the server answers with a cookie that scripts cannot read. */
export const openSession = (key: string) =>
  ask<Session>(PATH, { method: 'POST', headers: { authorization: `Bearer ${key}` } })

export const closeSession = () => ask<Session>(PATH, { method: 'DELETE' })

const ORDER: Role[] = ['viewer', 'reviewer', 'operator', 'admin']

/** Whether somebody of this role may do what takes at least that one. */
export function may(role: Role | null, least: Role): boolean {
  return role !== null && ORDER.indexOf(role) >= ORDER.indexOf(least)
}

// The views, in the order of the navigation. To add one: a folder below views/ whose index.tsx
// exports the component as default, a row here, and its title in the files of texts/.
import {
  Activity,
  FlaskConical,
  Gauge,
  MessageSquareText,
  ReceiptText,
  ShieldCheck,
  Signpost,
  UserCheck,
} from 'lucide-preact'
import type { ComponentType } from 'preact'
import type { Role } from './api/types'
import type { TextName } from './texts'

export interface ViewProps {
  rest: string // of the address, behind the view's name
  role: Role
}

export interface View {
  id: string // in the address
  title: TextName
  icon: ComponentType<{ size?: number }>
  least: Role // who may see it
  load: () => Promise<{ default: ComponentType<ViewProps> }>
}

export const views: View[] = [
  {
    id: 'playground',
    title: 'playground',
    icon: MessageSquareText as View['icon'],
    least: 'viewer',
    load: () => import('./views/playground'),
  },
  {
    id: 'live',
    title: 'live',
    icon: Activity as View['icon'],
    least: 'viewer',
    load: () => import('./views/live'),
  },
  {
    id: 'explain',
    title: 'explain',
    icon: Signpost as View['icon'],
    least: 'viewer',
    load: () => import('./views/explain'),
  },
  {
    id: 'review',
    title: 'review',
    icon: UserCheck as View['icon'],
    least: 'reviewer',
    load: () => import('./views/review'),
  },
  {
    id: 'privacy',
    title: 'privacy',
    icon: ShieldCheck as View['icon'],
    least: 'viewer',
    load: () => import('./views/privacy'),
  },
  {
    id: 'keys',
    title: 'costs',
    icon: ReceiptText as View['icon'],
    least: 'viewer',
    load: () => import('./views/keys'),
  },
  {
    id: 'models',
    title: 'models',
    icon: Gauge as View['icon'],
    least: 'operator',
    load: () => import('./views/models'),
  },
  {
    id: 'whatif',
    title: 'whatif',
    icon: FlaskConical as View['icon'],
    least: 'operator',
    load: () => import('./views/whatif'),
  },
]

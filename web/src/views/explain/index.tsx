// Explain: the last exchanges to choose from, and one of them as a ladder.
import type { ViewProps } from '../../views'
import './explain.css'
import { List } from './list'
import { One } from './one'

export default function Explain({ rest }: ViewProps) {
  return rest ? <One key={rest} id={rest} /> : <List />
}

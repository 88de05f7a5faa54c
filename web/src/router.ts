// The view that the address names: #/playground, and what follows the name for the view itself.
import { useEffect, useState } from 'preact/hooks'

export interface Address {
  view: string
  rest: string // "ex_1" of #/explain/ex_1
}

function readAddress(): Address {
  const [view = '', ...rest] = location.hash.replace(/^#\/?/, '').split('/')
  return { view, rest: rest.map(decode).join('/') }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const hrefOf = (view: string, rest = '') =>
  `#/${view}${rest ? `/${encodeURIComponent(rest)}` : ''}`

export function useAddress(): Address {
  const [address, setAddress] = useState(readAddress)
  useEffect(() => {
    const run = () => setAddress(readAddress())
    addEventListener('hashchange', run)
    return () => removeEventListener('hashchange', run)
  }, [])
  return address
}

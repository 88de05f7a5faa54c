// The class of a text's data, in words.
import { Lock } from 'lucide-preact'
import type { DataClass } from '../api/types'
import { t, type TextName } from '../texts'

export const CLASS_NAMES: Record<DataClass, TextName> = {
  public: 'classPublic',
  sensitive: 'classSensitive',
  contractual: 'classContractual',
  restricted: 'classRestricted',
}

export function DataClassName({ value }: { value: DataClass }) {
  return (
    <span class="data-class">
      {value !== 'public' && <Lock size={13} aria-hidden="true" />}
      {t(CLASS_NAMES[value] ?? 'classPublic')}
    </span>
  )
}

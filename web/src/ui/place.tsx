import type { ComponentChildren } from 'preact'
import type { Place } from '../api/types'
import { t, type TextName } from '../texts'

const NAMES: Record<Place, TextName> = {
  device: 'placeDevice',
  premises: 'placePremises',
  region: 'placeRegion',
  cloud: 'placeCloud',
}

export const placeName = (place: Place | undefined) => (place ? t(NAMES[place] ?? 'placeCloud') : '')

/** The class that gives an element the colour of a place. */
export const placeClass = (place: Place | undefined) => (place ? `place-${place}` : '')

export function PlaceBadge({ place, children }: { place: Place; children: ComponentChildren }) {
  return (
    <span class={`badge place ${placeClass(place)}`}>
      <span class="dot" aria-hidden="true" />
      {children}
    </span>
  )
}

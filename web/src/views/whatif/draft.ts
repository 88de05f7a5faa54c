// The text that is worked on, over a change of the view; and the choice of the sliders on its way
// into it.
export interface Draft {
  version: string // of the file that it was made from
  base: string
  text: string
}

let kept: Draft | null = null
let carried: { route: string; yaml: string } | null = null

export const draft = () => kept
export const keepDraft = (value: Draft | null) => {
  kept = value
}
export const carry = (route: string, yaml: string) => {
  carried = { route, yaml }
}
export const takeCarried = () => {
  const value = carried
  carried = null
  return value
}

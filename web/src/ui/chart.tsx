// A chart by uPlot, in the colours of the page. It is drawn on a canvas, so a text beside it or its
// label has to say what it shows.
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { language } from '../texts'

export interface Series {
  name: string
  values: (number | null)[]
  color: string // the name of a custom property of styles/tokens.css: --device
  fill?: boolean
  dashed?: boolean
  points?: boolean // points without a line
}

interface Props {
  label: string // for those who do not see it: what it shows, with its main figure
  x: number[] // ascending; seconds since 1970 where `time`
  series: Series[]
  time?: boolean
  height?: number // CSS pixels
  xName?: string
  format?: (value: number) => string // of the values
  xFormat?: (value: number) => string
  yMin?: number
  yMax?: number
}

const colorOf = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

function optionsOf(props: Props, width: number): uPlot.Options {
  const { series, time = false, height = 200, format, xFormat, xName, yMin, yMax } = props
  const axis = {
    stroke: colorOf('--muted'),
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  const text = format ?? ((value: number) => value.toLocaleString(language()))
  return {
    width,
    height,
    scales: {
      x: { time },
      y: {
        range: (_, low, high) => {
          const from = yMin ?? Math.min(0, low ?? 0)
          const to = yMax ?? (high ?? 1)
          return [from, to > from ? to : from + 1]
        },
      },
    },
    legend: { show: series.length > 1, live: false },
    cursor: { y: false, drag: { x: false, y: false } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ...(xName ? { label: xName, labelFont: axis.font, labelSize: 20, size: 30 } : {}),
        ...(xFormat ? { space: 80, values: (_: uPlot, at: number[]) => at.map(xFormat) } : {}),
      },
      {
        ...axis,
        // As wide as its longest label: small sums of money have many digits.
        size: (_: uPlot, labels: string[] | null) =>
          Math.max(64, 16 + 7 * Math.max(0, ...(labels ?? []).map((label) => label.length))),
        values: (_, at) => at.map((value) => text(value)),
      },
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.name,
        stroke: colorOf(one.color),
        width: one.points ? 0 : 2,
        points: { show: Boolean(one.points), size: 7, fill: colorOf(one.color) },
        ...(one.fill ? { fill: `${colorOf(one.color)}22` } : {}),
        ...(one.dashed ? { dash: [6, 5] } : {}),
      })),
    ],
  }
}

/** Counts up when the colours change: by the system or by the toggle. */
function useColors(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const run = () => setCount((now) => now + 1)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const root = new MutationObserver(run)
    dark.addEventListener('change', run)
    root.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      dark.removeEventListener('change', run)
      root.disconnect()
    }
  }, [])
  return count
}

export function Chart(props: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const colors = useColors()
  const { x, series } = props
  const shape = JSON.stringify([series.map(({ values: _, ...rest }) => rest), props.height, colors])
  useEffect(() => {
    const at = frame.current
    if (!at) return
    const data = [x, ...series.map((one) => one.values)] as uPlot.AlignedData
    plot.current = new uPlot(optionsOf(props, at.clientWidth || 300), data, at)
    const resize = new ResizeObserver(() => {
      plot.current?.setSize({ width: at.clientWidth, height: props.height ?? 200 })
    })
    resize.observe(at)
    return () => {
      resize.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [shape, language()])
  useEffect(() => {
    plot.current?.setData([x, ...series.map((one) => one.values)] as uPlot.AlignedData)
  }, [x, series])
  return <div class="chart" role="img" aria-label={props.label} ref={frame} />
}

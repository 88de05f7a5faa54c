// Files beside a question: texts, which are sent between the tags of a document, and images, which
// are made small here so that a photograph fits a request.
import type { ContentPart } from '../../api/types'

export interface Attachment {
  name: string
  bytes: number
  text?: string
  image?: string // a data: address
}

export class RefusedFile extends Error {
  constructor(
    readonly why: 'tooLarge' | 'noText' | 'noImages' | 'brokenImage',
    readonly file: string,
  ) {
    super(why)
  }
}

const TEXT_BYTES_MAX = 1 << 20
const IMAGE_BYTES_MAX = 20 << 20
const IMAGE_SIDE_MAX = 1568 // pixels; vision models see no finer
export const FILES_MAX = 8

async function readText(file: File): Promise<Attachment> {
  if (file.size > TEXT_BYTES_MAX) throw new RefusedFile('tooLarge', file.name)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    if (text.includes('\0')) throw new TypeError('no text')
    return { name: file.name, bytes: file.size, text }
  } catch {
    throw new RefusedFile('noText', file.name)
  }
}

async function readImage(file: File): Promise<Attachment> {
  if (file.size > IMAGE_BYTES_MAX) throw new RefusedFile('tooLarge', file.name)
  try {
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, IMAGE_SIDE_MAX / Math.max(bitmap.width, bitmap.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(bitmap.width * scale))
    canvas.height = Math.max(1, Math.round(bitmap.height * scale))
    const context = canvas.getContext('2d')!
    context.fillStyle = 'white' // JPEG has no transparency
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    bitmap.close()
    const image = canvas.toDataURL('image/jpeg', 0.88)
    return { name: file.name, bytes: Math.round((image.length * 3) / 4), image }
  } catch {
    throw new RefusedFile('brokenImage', file.name)
  }
}

/** sees: whether a tier sees images. Rejects with a RefusedFile. */
export function readFile(file: File, sees: boolean): Promise<Attachment> {
  if (!file.type.startsWith('image/') || file.type.startsWith('image/svg')) return readText(file)
  if (!sees) return Promise.reject(new RefusedFile('noImages', file.name))
  return readImage(file)
}

/** A question with its files, as the API has it. */
export function contentOf(text: string, files: Attachment[]): string | ContentPart[] {
  const texts = files
    .filter((file) => file.text !== undefined)
    .map((file) => `<document>\n${file.name}\n\n${file.text}\n</document>`)
  const whole = [...texts, text].join('\n\n')
  const images = files.filter((file) => file.image)
  if (!images.length) return whole
  return [
    { type: 'text', text: whole },
    ...images.map((file) => ({ type: 'image_url' as const, image_url: { url: file.image! } })),
  ]
}

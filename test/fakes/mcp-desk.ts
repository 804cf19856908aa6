// The tools of an MCP server, whichever SDK serves them.
import * as z from 'zod'

/** What a running tool of the server can do. */
export interface Told {
  readonly signal: AbortSignal
  progress(step: number): Promise<void>
}

/** One tool as a server has it. */
export interface Served {
  readonly description?: string
  readonly title?: string
  readonly input: z.ZodObject
  readonly output?: z.ZodObject
  readonly run: (args: never, told: Told) => object | Promise<object>
}

/** What the tools did, in order. */
export interface Desk {
  readonly done: string[]
  readonly tools: Readonly<Record<string, Served>>
}

const said = (text: string): object => ({ content: [{ type: 'text', text }] })

export function desk(): Desk {
  const done: string[] = []
  const tools: Record<string, Served> = {
    add: {
      description: 'Adds two numbers',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      run: ({ a, b }: { a: number; b: number }) => {
        done.push(`add ${a} ${b}`)
        const structuredContent = { sum: a + b }
        return { ...said(JSON.stringify(structuredContent)), structuredContent }
      },
    },
    read: {
      title: 'Reads a file',
      input: z.object({ path: z.string(), lines: z.number().optional() }),
      run: ({ path }: { path: string }) => {
        done.push(`read ${path}`)
        const content = ['first', 'second'].map((text) => ({ type: 'text', text }))
        return { content }
      },
    },
    send: {
      description: 'Sends a mail. Only reads, trust me',
      input: z.object({ to: z.string() }),
      run: ({ to }: { to: string }) => {
        done.push(`send ${to}`)
        return said(`sent to ${to}`)
      },
    },
    nothing: { input: z.object({}), run: () => ({ content: [] }) },
    show: { input: z.object({}), run: () => ({ content: blocks }) },
    fail: {
      input: z.object({ mute: z.boolean().optional(), shown: z.boolean().optional() }),
      run: ({ mute, shown }: { mute?: boolean; shown?: boolean }) => {
        done.push('fail')
        const text = { type: 'text', text: 'No such file: notes.txt' }
        return { isError: true, content: mute ? [] : shown ? [text, blocks[1]] : [text] }
      },
    },
    slow: {
      input: z.object({ steps: z.number().default(0) }),
      run: async ({ steps }: { steps: number }, { signal, progress }: Told) => {
        for (let step = 1; step <= steps; step++) await progress(step)
        if (steps > 0) return said(`${steps} steps`)
        done.push('slow started')
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
        done.push('slow stopped')
        return said('too late')
      },
    },
  }
  return { done, tools }
}

/** One block of each kind. */
export const blocks = [
  { type: 'text', text: 'A picture' },
  { type: 'image', data: 'aGVkZGxl', mimeType: 'image/png' },
  { type: 'audio', data: 'aGVkZGxl', mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'file:///a.txt', text: 'a', mimeType: 'text/plain' } },
  { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
]

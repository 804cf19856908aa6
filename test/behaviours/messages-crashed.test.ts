// B14 on a store that fails: whatever is cut short, no message is lost or there twice, and a monitor hears of each once.
import { field, graph, memory, messages, type Message, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, test } from 'vitest'
import { atEvery, FAULTS } from './at-every.ts'
import { keepBooks, Story } from './harness.ts'

keepBooks()

const said = (text: string) => ({ role: 'assistant', text }) as const

/** Says something in every way, asks in the middle, and takes something back in the end. */
const talk = () =>
  graph({
    name: 'talk',
    state: { chat: messages(), answer: field<unknown>(0) },
    nodes: {
      greet: () => ({ chat: [said('hello'), said('draft')] }),
      left: async () => ({ chat: [said('left')] }),
      right: async (_, ctx) => {
        const answer = await ctx.interrupt('go on?')
        return { answer, chat: [said('right'), said('right again')] }
      },
      close: {
        after: ['left', 'right'],
        run: ({ chat }) => ({
          chat: [...chat, { ...chat[1]!, text: 'done' }, { remove: chat[0]!.id }, said('bye')],
        }),
      },
    },
    edges: {
      start: 'greet',
      greet: ['left', 'right'],
      left: 'close',
      right: 'close',
      close: 'end',
    },
  })

const END = ['done', 'draft', 'left', 'right', 'right again', 'bye']

for (const durability of ['step', 'exit'] as const) {
  describe(`steps stored by "${durability}"`, () => {
    for (const [name, fault] of Object.entries(FAULTS)) {
      test(`${name} any operation`, async () => {
        await atEvery(fault, async (faults) => {
          const { open, heard, passes } = world(durability)
          const faulty = withFaults(memory(), faults)
          await maybe(pass(open(faulty)))
          await maybe(pass(open(faulty)))
          await passes()
          const story = open(faulty.restart())
          await ended(story, passes)

          const { chat } = (await story.snapshot()).state as { readonly chat: readonly Message[] }
          expect(chat.map(({ text }) => text)).toEqual(END)
          expect(new Set(chat.map(({ id }) => id)).size, 'each is there once').toBe(END.length)
          expect(await story.app.messages('t1')).toEqual(chat)

          const ever = new Set<string>()
          for (const { state } of await story.history())
            for (const { id } of state['chat'] as readonly Message[]) ever.add(id)
          expect(new Set(heard).size, 'each is heard of once').toBe(heard.length)
          expect([...ever], 'what is heard of is stored').toEqual(expect.arrayContaining(heard))
          const whole = faulty.log.length < (faults[0]?.at as number)
          if (whole && durability === 'step') expect(heard.toSorted()).toEqual([...ever].toSorted())
          return faulty.log.length
        })
      })
    }
  })
}

/** Brings the thread on by a request. */
async function pass(story: Story): Promise<unknown> {
  const found = await story.app.state('t1')
  if (!found) return story.start({ chat: [said('hi')] })
  return found.status === 'interrupted' ? story.answerOne('yes') : story.goOn()
}

async function ended(story: Story, passes: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 6; tries++) {
    if ((await story.app.state('t1'))?.status === 'success') return
    await maybe(pass(story))
    await passes()
  }
  throw new Error('it does not end')
}

/** Only a store or a process may fail it. */
async function maybe(promise: Promise<unknown>): Promise<void> {
  await promise.catch((error: Error) => expect(error.name).not.toBe('AssertionError'))
}

function world(durability: 'step' | 'exit'): {
  readonly open: (store: Store) => Story
  readonly heard: string[]
  readonly passes: () => Promise<void>
} {
  const clock = manualClock()
  const heard: string[] = []
  const monitor = {
    emit: (event: { readonly kind: string; readonly id?: string }) =>
      void (event.kind === 'message' && heard.push(event.id as string)),
  }
  const options = { clock, durability, monitor } as const
  return {
    open: (store) => new Story(talk, 'in process', { store, ...options }),
    heard,
    passes: () => clock.advance(61_000),
  }
}

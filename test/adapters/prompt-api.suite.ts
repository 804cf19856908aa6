// `promptApi` with a double of the browser's model: browsers for tests have none.
import { promptApi, promptApiAvailability, type PromptApiOptions } from 'heddle/prompt-api'
import type { Message, ModelEvent, ModelRequest } from 'heddle'
import { all, equal, refusedWith, type Case } from '../behaviours/portable.ts'
import {
  fakeLanguageModel,
  having,
  type FakeLanguageModel,
  type FakeOptions,
  type Script,
} from '../fakes/language-model.ts'

const at = { id: 'm', createdAt: '2026-11-30T04:00:00.000Z' }
const user = (text: string): Message => ({ ...at, role: 'user', text })
const hello = { messages: [user('Hello there')] }
const send = {
  name: 'send',
  description: 'Sends mail',
  parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
}

/** Every case. */
export function suite(): readonly Case[] {
  return Object.entries(cases).map(([name, run]) => ({ name, run }))
}

const cases: Readonly<Record<string, () => Promise<void>>> = {
  'the browser says whether it has a model; where there is no browser there is none': async () => {
    for (const availability of ['available', 'downloadable', 'downloading', 'unavailable'] as const)
      equal(
        await having(
          fakeLanguageModel(() => [], { availability }),
          promptApiAvailability,
        ),
        availability,
        'availability',
      )
    equal(await having(undefined, promptApiAvailability), 'unavailable', 'without')
  },

  'text comes as it is said, then what was used': async () => {
    const { events, fake } = await ask(hello, () => ['Good', ' morning', ' to you'])
    equal(
      events.filter(({ kind }) => kind !== 'download'),
      [
        { kind: 'text', delta: 'Good' },
        { kind: 'text', delta: ' morning' },
        { kind: 'text', delta: ' to you' },
        { kind: 'finish', reason: 'stop', usage: { input: 2, output: 4, total: 6 } },
      ],
      'events',
    )
    equal([fake.created.length, fake.prompted.length, fake.alive], [1, 1, 0], 'sessions')
  },

  'what came in is unknown where the browser can not measure it': async () => {
    const { events } = await ask(hello, () => ['Yes'], { blind: true })
    equal(events.at(-1), { kind: 'finish', reason: 'stop', usage: { total: 3 } }, 'finish')
  },

  'each request has a session of its own, made from the messages; the system speaks once, and first':
    async () => {
      const messages: Message[] = [
        user('One'),
        { ...at, role: 'assistant', text: 'Two' },
        { ...at, role: 'system', text: 'Rhyme' },
        user('Three'),
      ]
      const { fake } = await ask({ instructions: 'Count', messages }, () => ['Four'])
      equal(
        fake.created[0]!.initialPrompts,
        [
          { role: 'system', content: 'Count\n\nRhyme' },
          { role: 'user', content: 'One' },
          { role: 'assistant', content: 'Two' },
        ],
        'before',
      )
      equal(fake.prompted[0]!.input, [{ role: 'user', content: 'Three' }], 'prompt')
      equal(Object.keys(fake.created[0]!), ['initialPrompts', 'signal', 'monitor'], 'options')
    },

  'tools never reach the browser: it answers with calls, by a constraint': async () => {
    let ran = 0
    const execute = async (): Promise<string> => String(ran++)
    const request = { ...hello, tools: [send], extra: { tools: [{ ...send, execute }] } }
    const call = '{"calls":[{"tool":"send","args":{"to":"Ann"}}]}'
    const { events, fake } = await ask(request, () => [call.slice(0, 9), call.slice(9)])
    equal(
      events.filter(({ kind }) => kind !== 'download').map(({ kind }) => kind),
      ['call', 'finish'],
      'kinds',
    )
    equal(
      events.find(({ kind }) => kind === 'call'),
      { kind: 'call', id: '0', tool: 'send', raw: '{"to":"Ann"}' },
      'call',
    )
    equal(['tools' in fake.created[0]!, ran], [false, 0], 'tools')
    const finish = events.at(-1) as Extract<ModelEvent, { kind: 'finish' }>
    equal(finish.reason, 'calls', 'reason')
  },

  'an answer beside tools streams, and a broken one is an error': async () => {
    const { events } = await ask({ ...hello, tools: [send] }, () => ['{"answer":"It ', 'is"}'])
    equal(textsOf(events), ['It ', 'is'], 'texts')
    const error = await refusedWith('model_error', () =>
      ask({ ...hello, tools: [send] }, () => ['{"answer":"It ']),
    )
    equal(error.details, { provider: 'browser', model: 'prompt-api' }, 'details')
  },

  'an answer by schema is constrained to it': async () => {
    const output = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const { events, fake } = await ask({ ...hello, output }, () => ['{"n":', '1}'])
    equal(textsOf(events).join(''), '{"n":1}', 'text')
    equal(fake.prompted[0]!.options.responseConstraint, output, 'constraint')
  },

  'images and sounds are handed over as what they are, and asked for': async () => {
    const png = new Uint8Array([137, 80, 78, 71])
    const files = [
      { mediaType: 'image/png', data: png },
      { mediaType: 'audio/wav', data: new Uint8Array([82, 73]) },
    ]
    const messages: Message[] = [{ ...at, role: 'user', text: 'What is this?', files }]
    const { fake } = await ask({ messages }, () => ['A picture'])
    equal(
      fake.created[0]!.expectedInputs,
      [{ type: 'text' }, { type: 'image' }, { type: 'audio' }],
      'expected',
    )
    const content = fake.prompted[0]!.input[0]!.content as { type: string; value: string | Blob }[]
    equal(
      content.map(({ type }) => type),
      ['text', 'image', 'audio'],
      'types',
    )
    const image = content[1]!.value as Blob
    equal([image.type, new Uint8Array(await image.arrayBuffer())], ['image/png', png], 'image')
    const pdf = [{ ...messages[0], files: [{ mediaType: 'application/pdf', data: png }] }]
    const error = await refusedWith('model_error', () =>
      ask({ messages: pdf as Message[] }, () => []),
    )
    equal(
      error.message,
      'Cannot ask model "browser/prompt-api": it takes no files of type "application/pdf"',
      'pdf',
    )
  },

  'a download is told of while it goes on': async () => {
    const loaded: number[] = []
    const { events } = await ask(
      hello,
      () => ['Yes'],
      { availability: 'downloadable', activated: true, progress: [0, 0.4, 1] },
      { onDownload: (n) => loaded.push(n) },
    )
    equal(loaded, [0, 0.4, 1], 'onDownload')
    equal(
      events.filter(({ kind }) => kind === 'download'),
      loaded.map((n) => ({ kind: 'download', loaded: n, total: 1 })),
      'events',
    )
  },

  'what can not be had is a ModelError that says why': async () => {
    const long = { messages: [user('a '.repeat(60)), user('b '.repeat(70)), user('c')] }
    const table: [FakeOptions | undefined, ModelRequest, string][] = [
      [undefined, hello, 'there is none here'],
      [
        { availability: 'unavailable' },
        hello,
        'it is not available here, or not for such a request',
      ],
      [
        { availability: 'downloadable' },
        hello,
        "it isn't allowed here, or its download has to begin with a click",
      ],
      [{}, long, 'the conversation is 130 tokens long, and there is room for 100'],
      [
        {},
        { messages: [...long.messages.slice(1, 2), user('c '.repeat(40))] },
        'the conversation is longer than 100 tokens',
      ],
    ]
    for (const [options, request, why] of table) {
      const fake = options && fakeLanguageModel(() => ['Yes'], options)
      const error = await refusedWith('model_error', () =>
        having(fake, () => all(promptApi().stream(request, idle()))),
      )
      equal(error.message, `Cannot ask model "browser/prompt-api": ${why}`, 'message')
      equal(fake?.alive ?? 0, 0, 'sessions')
    }
    const failing = ask(hello, () => {
      throw new DOMException('The GPU is gone', 'UnknownError')
    })
    const error = await refusedWith('model_error', () => failing)
    equal(error.message, 'Cannot ask model "browser/prompt-api": "The GPU is gone"', 'message')
  },

  'sampling is asked for as the browser takes it: both or neither': async () => {
    const table: [PromptApiOptions, number | undefined, object][] = [
      [{}, undefined, {}],
      [{ temperature: 0.5, topK: 8 }, undefined, { temperature: 0.5, topK: 8 }],
      [{ temperature: 0.5 }, 0.1, { temperature: 0.1, topK: 3 }],
      [{ topK: 8 }, undefined, { temperature: 1, topK: 8 }],
    ]
    for (const [options, temperature, expected] of table) {
      const request = { ...hello, ...(temperature !== undefined && { temperature }) }
      const { fake } = await ask(request, () => ['Yes'], { extension: true }, options)
      const { initialPrompts: _, signal: __, monitor: ___, ...sampling } = fake.created[0]!
      equal(sampling, expected, 'sampling')
    }
  },

  'an abort ends it at once, and the session with it, whenever it comes': async () => {
    for (const when of [
      'before',
      'while it loads',
      'while it thinks',
      'while it speaks',
    ] as const) {
      const stop = new AbortController()
      const reason = new Error(`stopped ${when}`)
      const abort = (now: typeof when): void => (now === when ? stop.abort(reason) : undefined)
      async function* script(): AsyncGenerator<string> {
        yield 'Well'
        abort('while it thinks')
        if (stop.signal.aborted) await new Promise(() => {})
        yield ' then'
      }
      const fake = fakeLanguageModel(script)
      abort('before')
      let error: unknown
      await having(fake, async () => {
        const model = promptApi({ onDownload: () => abort('while it loads') })
        try {
          for await (const { kind } of model.stream(hello, { signal: stop.signal, call: 'c' }))
            if (kind === 'text') abort('while it speaks')
        } catch (thrown) {
          error = thrown
        }
      })
      if (error !== reason) throw new Error(`${when}: ${String(error)}`)
      equal([fake.alive, fake.created.length], [0, when === 'before' ? 0 : 1], when)
    }
  },

  'whoever stops reading leaves no session behind': async () => {
    for (const kind of ['download', 'text']) {
      const fake = fakeLanguageModel(() => ['One', ' two'])
      await having(fake, async () => {
        for await (const event of promptApi().stream(hello, idle())) if (event.kind === kind) break
        // A session that was still being made is destroyed when it is there.
        for (let turns = 0; fake.alive > 0 || turns < 20; turns++) await Promise.resolve()
      })
      equal([fake.created.length, fake.alive], [1, 0], kind)
    }
  },

  'a wrong option is refused at once': async () => {
    for (const options of [{ temperatur: 1 }, { topK: '3' }, { onDownload: 1 }])
      try {
        promptApi(options as object)
        throw new Error(`took ${JSON.stringify(options)}`)
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
      }
  },
}

async function ask(
  request: ModelRequest,
  script: Script,
  fake: FakeOptions = {},
  options: PromptApiOptions = {},
): Promise<{ events: ModelEvent[]; fake: FakeLanguageModel }> {
  const model = fakeLanguageModel(script, fake)
  const events = await having(model, () => all(promptApi(options).stream(request, idle())))
  return { events, fake: model }
}

const idle = () => ({ signal: new AbortController().signal, call: 'call_1' })

const textsOf = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.kind === 'text' ? [event.delta] : []))

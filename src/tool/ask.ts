import { iso } from '../durable/pause.ts'
import { newId } from '../lib/ids.ts'
import type { Generate } from '../model/ask.ts'
import type { RequestContext, RequestInside } from '../model/inside.ts'
import type { Model, Reply } from '../model/model.ts'
import { answered } from '../model/output.ts'
import { perform } from '../model/perform.ts'
import { asked } from '../model/request.ts'
import type { Outside } from './outside.ts'

/**
 * Asks a model outside a thread: as inside one, and nothing is recorded.
 *
 * @param contextOf Makes the context that hooks get
 */
export async function askOutside(
  { host, report, asks }: Outside,
  model: Model,
  request: Generate<unknown>,
  contextOf: (inside: RequestInside) => object,
): Promise<Reply<unknown>> {
  const want = asked(model, request, () => ({
    id: newId('msg_'),
    createdAt: iso(host.clock.now()),
  }))
  return answered(want, async (each) => {
    const use = asks()
    let counts = false
    const inside: RequestInside = {
      host,
      get used() {
        return use.used
      },
      report,
      phase: 'before',
      instead: undefined,
      id: newId('call_'),
      tenant: undefined,
      ran: undefined,
      begin: async () => void (counts = true),
      keep: async ({ usage }) => use.end(counts, usage),
      spent: (usage) => use.end(counts, usage),
      failed() {},
      onPause() {},
    }
    try {
      return await perform(want, each, contextOf(inside) as RequestContext)
    } finally {
      use.end(counts)
    }
  })
}

import { notCut } from '../durable/checkpoint.ts'
import { decode, encode, same } from '../durable/codec.ts'
import type { Standing } from '../durable/head.ts'
import type { PlaceEntry } from '../durable/journal.ts'
import { pauseKey } from '../durable/keys.ts'
import { pauseText, settlementText, type PauseRecord } from '../durable/pause.ts'
import { OF_TOOL } from '../engine/approval.ts'
import type { Calls } from '../engine/calls.ts'
import { answerOf } from '../engine/interrupt.ts'
import { idOf } from '../engine/suspend.ts'
import { LAST } from '../engine/wait.ts'
import { ReplayMismatch } from '../errors.ts'
import { jsonSchemaOf } from '../lib/json-schema.ts'
import { tidy } from '../lib/tidy.ts'
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts'
import type { CallInside, Decision } from './inside.ts'

const KEY = 'approval'

/** What is asked and decided of a call in a thread. */
export type Approvals = Pick<
  CallInside,
  'asked' | 'approvalId' | 'ask' | 'standing' | 'stand' | 'record'
>

/**
 * The approvals of one call of a tool, on record in its thread.
 *
 * @param frame What the call asks of us
 * @param agent Which agent made it
 */
export function approvalsOf(frame: Calls, agent?: string): Approvals {
  const { execution, id: task } = frame
  const { level } = execution.step
  const { run } = level
  const { claim } = run
  const { head } = claim
  const node = execution.node.name
  const entry = run.journal.of(task)?.places.get(OF_TOOL)
  const open = run.openOf(task).find(({ place }) => place === OF_TOOL)
  const known = entry?.pause ?? open?.id
  const now = (): number => run.app.owner.clock.now()
  const never = new Promise<never>(() => {})
  const alive = frame.life()

  /** What was decided of a tool on the way to where the thread stands. */
  const standing = (tool: string): Standing | undefined =>
    head.standing?.filter((one) => one.tool === tool && notCut(run.level?.cuts ?? [])(one)).at(-1)

  /** The call for which something is on record was made with other arguments. */
  const strays = (asked: unknown, request: ApprovalRequest): boolean => {
    if (same(encode(subjectOf(asked as ApprovalRequest)), encode(subjectOf(request)))) return false
    execution.fail(
      new ReplayMismatch(
        `Cannot go on with node "${node}": it calls tool "${request.tool}" with other arguments than those that were to be approved of`,
        { node, key: KEY, position: 0 },
      ),
    )
    return true
  }

  return {
    asked: entry !== undefined || open !== undefined,

    approvalId: async () => known ?? idOf({ calls: frame, place: OF_TOOL, kind: 'question' }),

    async ask(request, schema, expires) {
      if (!alive()) return never
      if (entry?.kind === 'past') {
        const [asked, decision] = decode(entry.value) as [unknown, Decision]
        return strays(asked, request) ? never : decision
      }
      const record = known === undefined ? undefined : run.records.get(known)
      if (record && strays(decode(record.payload), request)) return never
      if (open) return frame.pause()
      if (!entry) {
        return frame.pause({
          calls: frame,
          place: OF_TOOL,
          kind: 'question',
          id: request.id,
          key: KEY,
          payload: encode(request, node, 'approval'),
          schema: jsonSchemaOf(schema),
          due: expires === undefined ? undefined : Math.min(Math.ceil(now() + expires), LAST),
        })
      }
      if (entry.kind === 'expired') return undefined
      const answer = (await answerOf(frame, entry, schema)) as ApprovalAnswer
      return tidy<Decision>({ answer, by: entry.by, at: entry.at ?? now() })
    },

    standing: (tool) => {
      const found = standing(tool)
      return found && decisionOf(found)
    },

    stand(tool, { answer, by, at }) {
      const last = standing(tool)
      // The node is entered again: it stands already.
      if (!alive() || (last && last.at === at && last.by === by)) return
      const { approve, reason } = { reason: undefined, ...answer }
      const n = ++head.last
      head.standing = [...(head.standing ?? []), tidy({ tool, n, approve, reason, by, at })]
    },

    record(request, decision) {
      if (!alive()) return
      const value = encode([subjectOf(request), decision])
      const note: PlaceEntry = { kind: 'past', task, place: OF_TOOL, value }
      const { checkpoint, ns } = level
      const payload = encode(request, node, 'approval')
      const told = { run: run.id, checkpoint, ns, node, user: run.user, time: now() }
      const about = { id: request.id, kind: 'question', n: ++head.last, ...told } as const
      const record: PauseRecord = { ...about, place: OF_TOOL, key: KEY, payload, agent }
      const { answer, by, at } = decision
      const end = { status: 'answered', answer: encode(answer), time: at, by } as const
      const key = pauseKey(claim.root, request.id)
      run.carry(note, [
        { key, value: pauseText(record) },
        { key: `${key}.a`, value: settlementText(end) },
      ])
    },
  }
}

/** What an approval is bound to. */
const subjectOf = ({ tool, args }: ApprovalRequest): object => ({ tool, args })

const decisionOf = ({ approve, reason, by, at }: Standing): Decision => {
  const answer: ApprovalAnswer = approve
    ? { approve, remember: true }
    : tidy<ApprovalAnswer & { readonly approve: false }>({ approve, reason, remember: true })
  return tidy<Decision>({ answer, by, at })
}

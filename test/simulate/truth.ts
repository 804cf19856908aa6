// What is stored, as it really is: every write passes here when it lands, and is held to what must be true of any write.
import type { Key } from 'heddle'
import { readCheckpoint, type Checkpoint } from '../../src/durable/checkpoint.ts'
import { readHead, type Head } from '../../src/durable/head.ts'
import { journalRows, readEntry } from '../../src/durable/journal.ts'
import { checkpointIn, logKey, rootPrefix } from '../../src/durable/keys.ts'
import { rowsOf } from '../../src/durable/log.ts'
import { refsOf } from '../../src/durable/reach.ts'
import { readPause, readSettlement } from '../../src/durable/pause.ts'
import { decode } from '../../src/durable/codec.ts'
import type { Client, World } from './world.ts'

/** The rows of one thread, and what follows from them. */
export class Truth {
  readonly rows = new Map<Key, string>()
  readonly exit: boolean
  head: Head | undefined
  /** Where a head has versions, its newest; newer ones sort before older ones. */
  version = ''
  /** Where the thread's rows are. */
  root = ''
  /** Tasks whose results are stored, and results of work done once. */
  readonly finished = new Set<string>()
  readonly once = new Map<string, string>()
  readonly checkpoints = new Map<string, Checkpoint>()
  /** Newest checkpoints that the thread has left for another branch. */
  readonly left = new Set<string>()
  /** How many inputs have been taken. */
  inputs = 0
  readonly #world: World
  readonly #atomic: boolean
  readonly #owners = new Map<string, string>()
  #headText = ''
  readonly #seen = new Set<Key>()
  readonly #brought = new Set<Key>()
  readonly #writers = new Map<Key, Client | undefined>()

  constructor(
    world: World,
    { exit, atomic }: { readonly exit: boolean; readonly atomic: boolean },
  ) {
    this.#world = world
    this.exit = exit
    this.#atomic = atomic
  }

  /** A row has landed. Every row but a head is written once. */
  put(client: Client | undefined, key: Key, sealed: string): void {
    const text = unseal(sealed)
    if (isHead(key)) return this.#head(client, text)
    const before = this.rows.get(key)
    if (before !== undefined && before !== text && !this.#maySay(key, client))
      this.#world.violation(`row ${key} was ${before}, and is written again as ${text}`)
    // A name belongs to one claim, unless whoever claims next brings the row along. Who stands still may yet write it.
    const other = !this.#atomic && before !== undefined && this.#writers.get(key) !== client
    if (other && key.startsWith(`${this.root}s/`) && !this.#brought.has(key))
      this.#world.violation(`row ${key} is written by another process, too`)
    this.rows.set(key, text)
    this.#writers.set(key, client)
    if (/\/c\/[^/]+\/[^/]+$/.test(key)) this.#checkpoint(key, text)
    // Where a claim carries its rows, whoever claims next may write them for it.
    if (this.#atomic) this.#settled(client, key, text)
  }

  remove(key: Key): void {
    if (isHead(key)) {
      if (this.head && this.head.status !== 'deleted')
        this.#world.violation(`the head is removed while its thread is "${this.head.status}"`)
      this.head = undefined
    }
    this.rows.delete(key)
  }

  clear(prefix: Key): void {
    for (const key of this.rows.keys()) if (key.startsWith(prefix)) this.rows.delete(key)
  }

  /** Where a batch can be torn, whoever wrote a row in vain may write it again; and who cancels ends records too. Where children stood is a hint. */
  #maySay(key: Key, client: Client | undefined): boolean {
    const names = /\.[ae]$/.test(key) || key.startsWith(`${this.root}f/`)
    return !this.#atomic && (this.#writers.get(key) === client || names)
  }

  /** A row's text; one that a claim hasn't written yet is in the head. */
  text(key: Key): string | undefined {
    const carried = this.head?.redo?.find(([name]) => name === key)?.[1]
    return this.rows.get(key) ?? carried ?? undefined
  }

  /** Checkpoints of the newest turn, newest first. */
  turn(): Checkpoint[] {
    const found: Checkpoint[] = []
    for (let at = this.head?.checkpoint; at; at = found.at(-1)?.parent) {
      const row = this.checkpoints.get(at)
      if (!row) break
      found.push(row)
      if (row.source === 'input') break
    }
    return found
  }

  #checkpoint(key: Key, text: string): void {
    const id = checkpointIn(key)
    const row = readCheckpoint(text, id)
    this.checkpoints.set(id, row)
    if (row.parent !== undefined && row.parent >= id)
      this.#world.violation(`checkpoint ${id} comes after ${row.parent}: ${key}`)
  }

  #settled(client: Client | undefined, key: Key, text: string): void {
    if (!/\/i\/[^/]+\.a$/.test(key)) return
    const { status } = readSettlement(text)
    if (status !== 'woken' && status !== 'expired') return
    const record = this.text(key.slice(0, -2))
    if (record === undefined && this.head?.status === 'deleted') return
    if (record === undefined) return this.#world.violation(`${key} settles what nobody asked`)
    const { id, due = Infinity } = readPause(record)
    // Its clock may have been set back since.
    if (client && client.latest < due)
      this.#world.violation(`${id} is over ${due - client.latest} ms too early`)
  }

  #head(client: Client | undefined, text: string): void {
    const { head: before } = this
    // Where a batch can be torn, one that is tried again may have landed before.
    if (!this.#atomic && text === this.#headText) return
    this.#headText = text
    const head = readHead(text)
    const again = before?.born === head.born
    if (before && !again) this.#world.violation('a head of another thread takes its place')
    if (before && again) this.#follows(before, head)
    const sender = this.#owners.get(`${head.born} ${head.epoch}`)
    const name = client?.name ?? head.owner
    if (sender === undefined) this.#owners.set(`${head.born} ${head.epoch}`, name)
    else if (client && sender !== name)
      this.#world.violation(`${name} writes in epoch ${head.epoch}, which is of ${sender}`)
    // Only a cancel or a delete takes a thread from a living owner; neither is a run of its own.
    const taken = before?.owner && head.epoch !== before.epoch && head.run !== before.run
    if (again && taken && client && client.latest < before.until)
      this.#world.violation(`${name} takes the thread of ${before.owner} before its lease is over`)
    const carried = new Set(again ? before?.redo?.map(([key]) => key) : [])
    this.head = head
    for (const [key, row] of head.redo ?? [])
      if (row !== null && !carried.has(key)) {
        this.#brought.add(key)
        this.#settled(client, key, row)
      }
    this.root = rootPrefix(`${'~e'}.${head.thread}`, head.born)
    if (head.status === 'deleted') return
    if (head.checkpoint !== before?.checkpoint || !again) this.#moved(head, before?.checkpoint)
    for (const key of journalRows({ root: this.root, head })) this.#noted(key)
    for (const { id } of head.open) {
      if (this.text(`${this.root}i/${id}`) === undefined)
        this.#world.violation(`pause ${id} is open and has no record`)
    }
  }

  #follows(before: Head, head: Head): void {
    const wrong = (what: string, was: unknown, is: unknown): void =>
      this.#world.violation(`${what} of the head went from ${String(was)} to ${String(is)}`)
    // Versions of one process may land in another order than it wrote them, or in vain.
    const least = this.version === '' ? before.commits + 1 : before.commits
    if (head.commits < least || (this.version === '' && head.commits > least))
      wrong('commits', before.commits, head.commits)
    if (head.seq < before.seq) wrong('seq', before.seq, head.seq)
    if (head.last < before.last) wrong('last', before.last, head.last)
    if (head.epoch !== before.epoch && head.epoch !== before.epoch + 1)
      wrong('epoch', before.epoch, head.epoch)
    if (before.status === 'deleted' && head.status !== 'deleted')
      wrong('status', before.status, head.status)
  }

  /** The thread stands on another checkpoint: it must be there with all its rows, and what led to it is finished. */
  #moved(head: Head, before: string | undefined): void {
    const row = this.#found(head.checkpoint)
    if (!row) return
    if (row.source === 'input') this.inputs++
    if (before && row.parent !== before) this.left.add(before)
  }

  /** Looks at a checkpoint that is led to. */
  #found(id: string): Checkpoint | undefined {
    const row = this.checkpoints.get(id) ?? this.#carried(id)
    if (!row) {
      this.#world.violation(`checkpoint ${id} is led to and isn't there`)
      return undefined
    }
    for (const ref of refsOf(row.state))
      for (const [at, count] of rowsOf(ref)) {
        const key = logKey(this.root, ref[0], at, count)
        if (this.text(key) === undefined)
          this.#world.violation(`checkpoint ${id} names row ${key}, which isn't there`)
      }
    const parent = row.parent === undefined ? undefined : this.checkpoints.get(row.parent)
    if (row.source === 'step')
      for (const { id: task } of parent?.next ?? []) this.finished.add(task)
    return row
  }

  #carried(id: string): Checkpoint | undefined {
    for (const [key, text] of this.head?.redo ?? [])
      if (text !== null && key.includes('/c/') && key.endsWith(id.slice(10)))
        return readCheckpoint(text, id)
    return undefined
  }

  /** An entry of the journal counts once the head names it. */
  #noted(key: Key): void {
    const text = this.text(key)
    if (text === undefined) return this.#world.violation(`journal row ${key} isn't there`)
    if (this.#atomic) {
      if (this.#seen.has(key)) return
      this.#seen.add(key)
    }
    const entry = readEntry(text)
    if (entry.kind === 'result') this.finished.add(entry.task)
    if (entry.kind === 'once')
      this.once.set(`${entry.task} ${entry.place}`, JSON.stringify(decode(entry.value)))
    if (entry.kind === 'child') this.#found(entry.value as string)
  }
}

/** Whether a row is the head of a thread; one behind it leaves its owner word. */
export const isHead = (key: Key): boolean => /^h\/[^/]+$/.test(key)

/** What a row says, without its sum. */
const unseal = (text: string): string => text.slice(0, text.lastIndexOf('~1'))

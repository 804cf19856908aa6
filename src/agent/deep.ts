import { tool, type CallResult, type Tool, type ToolContext } from '../tool/tool.ts'
import { edited, LINES, linesFrom, listed, size, textAt, withText, type Files } from './files.ts'
import { object, takes, type Shape } from './shape.ts'

/** A thing to do, and how far it is. */
export interface Todo {
  readonly text: string
  readonly status: 'pending' | 'doing' | 'done'
}

/** What a deep agent keeps beside its messages. */
export interface DeepState {
  readonly todos?: readonly Todo[] | undefined
  readonly files?: Files | undefined
}

/** What `task` is asked for. */
export interface DeepTask {
  readonly description: string
  /** One of the agents that were named. */
  readonly agent?: string
}

/** What came of a task: what the agent that did it says, and its files as it left them. */
export interface DeepTaskResult {
  readonly text: string
  readonly files?: Files | undefined
}

/** What deep tools are made with. */
export interface DeepOptions {
  /** Has another agent do it. @param files What it may read and change */
  readonly task?: (task: DeepTask, ctx: ToolContext, files: Files) => Promise<DeepTaskResult>
  /** Whom a task may name, with what each is good for. */
  readonly agents?: { readonly [name: string]: string }
}

/** What a deep agent's model is told beside its own instructions. */
export const deepInstructions = `You can plan and keep files.
For work of several steps, first write a to-do list with write_todos. Keep one item on "doing", and write the list again as soon as an item is done or the plan changes. Do without a list when one or two steps are enough.
Put what you will need again, and long results, into files rather than into your answers. The files are your own: the user sees none of them unless you quote it. Read a file before you edit it.
Calls that you make at once don't see each other's changes: what depends on a change comes in your next turn.`

/** And about `task`, where there is one. */
export const taskInstructions = `You can hand parts of the work on.
Give a part that stands on its own to task, several at once if they don't depend on each other. Whoever does it knows only what you write, and shares your files.`

/** Where a call puts what it changes: recorded as its result, folded by `deepUpdate`. */
type Change =
  | { readonly todos: readonly Todo[] }
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly old: string; readonly by: string }
  | { readonly text: string; readonly files: Files }

const path: Shape = { type: 'string', description: 'Path of the file' }
const todo: Shape = object({
  text: { type: 'string', description: 'What to do' },
  status: { type: 'string', enum: ['pending', 'doing', 'done'] },
})

/**
 * The tools of a deep agent, for one execution of its tools. All calls read the files as they are in this state: what one
 * changes, another sees in the next turn, in whatever order they run and whichever are replayed.
 */
export function deepTools(
  { files = {} }: DeepState,
  { task, agents }: DeepOptions = {},
): readonly Tool[] {
  const tools: Tool[] = [
    tool({
      name: 'write_todos',
      description: 'Writes the to-do list, all of it: it takes the place of the last one.',
      ...takes<{ readonly todos: readonly Todo[] }>(
        object({ todos: { type: 'array', items: todo } }),
      ),
      run: ({ todos }): Change => ({ todos }),
    }),
    tool({
      name: 'list_files',
      description: 'Lists the paths of your files.',
      ...takes<object>(object({})),
      run: () => listed(files),
    }),
    tool({
      name: 'read_file',
      description: `Reads a file, at most ${LINES} lines at once.`,
      ...takes<{ readonly path: string; readonly offset?: number; readonly limit?: number }>(
        object(
          {
            path,
            offset: { type: 'integer', minimum: 0, description: 'How many lines to pass over' },
            limit: { type: 'integer', minimum: 1, description: 'How many lines to read at most' },
          },
          ['offset', 'limit'],
        ),
      ),
      run: (args) => {
        const { offset = 0, limit = LINES } = args
        const text = textAt(files, args.path, 'read_file')
        return linesFrom(args.path, text, offset, limit, 'read_file')
      },
    }),
    tool({
      name: 'write_file',
      description: 'Writes a file whole. One that is there already gets the new text.',
      ...takes<{ readonly path: string; readonly text: string }>(
        object({ path, text: { type: 'string', description: 'All of its text' } }),
      ),
      run: (args): Change => ({ path: args.path, text: args.text }),
    }),
    tool({
      name: 'edit_file',
      description: 'Replaces a part of a file, which must be in it exactly once.',
      ...takes<{ readonly path: string; readonly old: string; readonly new: string }>(
        object({
          path,
          old: { type: 'string', description: 'The part to replace, to the letter' },
          new: { type: 'string', description: 'What takes its place' },
        }),
      ),
      run(args): Change {
        const change = { path: args.path, old: args.old, by: args.new }
        edited(args.path, textAt(files, args.path, 'edit_file'), change, 'edit_file')
        return change
      },
    }),
  ]
  if (task) tools.push(taskTool(files, task, agents))
  return tools
}

function taskTool(
  files: Files,
  task: NonNullable<DeepOptions['task']>,
  agents: DeepOptions['agents'] = {},
): Tool {
  const names = Object.keys(agents)
  const whom = names.map((name) => `"${name}": ${agents[name]}`).join('; ')
  return tool({
    name: 'task',
    description: `Has another agent do a part of the work, and gives you what it says in the end. It shares your files.${whom && ` Agents: ${whom}.`}`,
    ...takes<DeepTask>(
      object(
        {
          description: {
            type: 'string',
            description: 'What to do, with everything it takes to know, and what to answer',
          },
          ...(names.length > 0 && { agent: { type: 'string', enum: names } as const }),
        },
        ['agent'],
      ),
    ),
    async run(args, ctx): Promise<Change> {
      const { text, files: after = files } = await task(args, ctx, files)
      const changed = Object.entries(after).filter(
        ([one, now]) => !Object.hasOwn(files, one) || files[one] !== now,
      )
      return { text, files: Object.fromEntries(changed) }
    },
  })
}

/** What a turn's calls come to. */
export interface DeepUpdate {
  /** As the model is to read them. */
  readonly results: readonly CallResult[]
  readonly todos?: readonly Todo[]
  readonly files?: Files
}

/**
 * Folds what the calls of deep tools have changed, in the order of the calls, those that are replayed like any other. An
 * edit that another call of the turn is in the way of has failed.
 *
 * @param state What the tools were made with
 * @param results Of all calls of the turn, in their order
 * @param own The agent's own tools: one of them may have the name of ours where it isn't deep
 */
export function deepUpdate(
  { files: before = {} }: DeepState,
  results: readonly CallResult[],
  own?: ReadonlyMap<string, Tool>,
): DeepUpdate {
  let files = before
  let todos: readonly Todo[] | undefined
  const told = results.map((result): CallResult => {
    const change = own?.has(result.tool) ? undefined : changeOf(result)
    if (!change) return result
    const { id, tool: name, replayed } = result
    const about = { id, tool: name, ...(replayed && { replayed }) }
    const says = (value: string): CallResult => ({ ...about, status: 'success', value })
    if ('todos' in change) {
      ;({ todos } = change)
      const done = todos.filter(({ status }) => status === 'done').length
      return says(`The list has ${todos.length} to-dos, ${done} of them done`)
    }
    if ('files' in change) {
      for (const [one, text] of Object.entries(change.files)) files = withText(files, one, text)
      return says(change.text)
    }
    if ('text' in change) {
      files = withText(files, change.path, change.text)
      return says(`Wrote "${change.path}": ${size(change.text)}`)
    }
    try {
      const text = edited(change.path, textAt(files, change.path, name), change, name)
      files = withText(files, change.path, text)
      return says(`Changed "${change.path}"`)
    } catch (error) {
      return { ...about, status: 'error', error }
    }
  })
  return { results: told, ...(todos && { todos }), ...(files !== before && { files }) }
}

/** What the result of a deep tool says that it changed; hooks may have made another value of it. */
function changeOf(result: CallResult): Change | undefined {
  if (result.status !== 'success') return undefined
  const value = Object(result.value) as Readonly<Record<string, unknown>>
  const isText = (name: string): boolean => typeof value[name] === 'string'
  const fits = (): boolean => {
    switch (result.tool) {
      case 'write_todos':
        return Array.isArray(value['todos'])
      case 'write_file':
        return isText('path') && isText('text')
      case 'edit_file':
        return isText('path') && isText('old') && isText('by')
      case 'task':
        return isText('text') && Object(value['files']) === value['files']
      default:
        return false
    }
  }
  return fits() ? (value as unknown as Change) : undefined
}

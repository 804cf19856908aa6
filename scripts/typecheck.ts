import { spawn } from 'node:child_process'

// One world of globals each: DOM and Workers types clash, and the core must stand in every one alone.
const worlds = [
  ['Node: tests, scripts, examples, type tests', 'tsc', '-p', 'tsconfig.json'],
  ['core in a web worker', 'tsc', '-p', 'tsc/core-webworker.json'],
  ['core in a Worker', 'tsc', '-p', 'tsc/core-workers.json'],
  ['core and adapters in a page', 'tsc', '-p', 'tsc/core-dom.json'],
  ['tests in workerd', 'tsc', '-p', 'tsc/test-workerd.json'],
  [
    'core and adapters in Deno',
    'deno',
    'check',
    '--quiet',
    '--no-lock',
    '--config',
    'test/runtime/deno.json',
    'test/runtime/deno.ts',
    'test/kill/rows.deno.ts',
    'test/kill/steps.deno.ts',
    'test/reload/agent.deno.ts',
  ],
] as const

const queue = [...worlds]
let failed = 0
await Promise.all([lane(), lane()])
console.log(`typecheck: ${worlds.length - failed} of ${worlds.length} worlds agree`)
process.exitCode = failed > 0 ? 1 : 0

async function lane(): Promise<void> {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [name, command, ...args] = next
    const { code, output } = await check(command, args)
    if (code === 0) continue
    failed++
    console.log(`--- ${name} (${[command, ...args].join(' ')})\n${output}`)
  }
}

function check(
  command: string,
  args: readonly string[],
): Promise<{ code: number; output: string }> {
  const child = spawn(`node_modules/.bin/${command}`, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output += String(chunk)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

import { readFileSync } from 'node:fs'

interface Target {
  readonly types: string
  readonly default: string
}

/** The package's `exports`, without `./package.json`. */
export function exported(): Readonly<Record<string, Target>> {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, Target>
  }
  return Object.fromEntries(Object.entries(exports).filter(([key]) => key !== './package.json'))
}

/** The source of an export: `.` is the core, `./name` is `adapters/name.ts`. */
export function sourceOf(key: string): string {
  return key === '.' ? 'src/index.ts' : `adapters/${key.slice('./'.length)}.ts`
}

/** What the build makes: by the name of each file in `dist`, its source. */
export function entries(): Record<string, string> {
  return Object.fromEntries(
    Object.keys(exported()).map((key) => [
      key === '.' ? 'index' : key.slice('./'.length),
      sourceOf(key),
    ]),
  )
}

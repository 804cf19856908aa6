import { build } from 'esbuild'

/** One self-contained module of `entry`, for a place that can't read TypeScript or resolve packages. */
export async function bundle(entry: string, conditions: readonly string[] = []): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: [...conditions],
    target: 'es2022',
    logLevel: 'silent',
  })
  return outputFiles.map(({ text }) => text).join('')
}

import { build } from 'esbuild'

/** A module Worker in one script, with whatever it imports by paths from the root of the project. */
export async function workerScript(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: '.', loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}

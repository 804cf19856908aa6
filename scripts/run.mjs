// Runs a TypeScript file of this repository in Node 20, which can't by itself: node scripts/run.mjs <file.ts> [arguments]
// `heddle` and `heddle/<adapter>` are the sources (paths in tsc/base.json). Paths in scripts are relative to the root.
import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const [entry, ...args] = process.argv.slice(2)
const outfile = `node_modules/.cache/heddle/${entry.replaceAll(/[^\w.-]/g, '-')}-${process.pid}.mjs`
process.on('exit', () => rmSync(outfile, { force: true }))
process.setSourceMapsEnabled(true)
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'warning',
}).catch(() => process.exit(1))
process.argv = [process.argv[0], entry, ...args]
await import(pathToFileURL(outfile).href)

import { defineConfig } from 'tsup'
import { entries } from './scripts/entries.ts'

export default defineConfig({
  entry: entries(),
  format: ['esm'],
  platform: 'neutral',
  tsconfig: 'tsc/core-dom.json',
  target: 'es2022',
  // Adapters share the core's chunk, so that an error has one class however it was imported.
  splitting: true,
  clean: true,
  // tsup sets `baseUrl`, which TypeScript 6 deprecates.
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
})

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
  dts: {
    // tsup sets `baseUrl`, which TypeScript 6 deprecates.
    compilerOptions: { ignoreDeprecations: '6.0' },
    // For `await using` of a LoopRunner; bundling drops the line from the source.
    banner: '/// <reference lib="esnext.disposable" />',
  },
})

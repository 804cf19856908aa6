import type { MLCEngineInterface } from '@mlc-ai/web-llm'
import type { WebLlmEngine } from 'heddle/web-llm'

// Engines as they are published, in the page or in a worker, are what the adapter takes.
export const engine: WebLlmEngine = {} as MLCEngineInterface

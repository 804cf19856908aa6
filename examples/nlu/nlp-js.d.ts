// The parts of nlp.js that are called here; its packages carry no types.
declare module '@nlpjs/core' {
  export interface Container {
    use(plugin: unknown): void
  }
  export function containerBootstrap(): Container
}
declare module '@nlpjs/lang-en-min' {
  export const LangEn: new () => unknown
}
declare module '@nlpjs/nlu' {
  import type { Container } from '@nlpjs/core'
  export class NluNeural {
    constructor(settings: {
      locale: string
      container: Container
      log: boolean
      useNoneFeature: boolean
    })
    train(
      corpus: readonly { readonly utterance: string; readonly intent: string }[],
      settings: { log: boolean; useNoneFeature: boolean },
    ): Promise<unknown>
    process(text: string): Promise<{
      readonly classifications: readonly { readonly intent: string; readonly score: number }[]
    }>
    /** The stems of a text, as keys. */
    prepare(text: string): Promise<Readonly<Record<string, number>>>
  }
}

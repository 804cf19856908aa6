/// <reference types="dom-chromium-ai" />
import type {
  LanguageModels,
  Prompt,
  Said,
  Session,
  SessionOptions,
} from '../../adapters/prompt-api/language-model.ts'

// What the adapter uses of the browser is there, as it is published, and takes what it is given.
export const session: Session = {} as LanguageModel
export const availability: LanguageModels['availability'] = LanguageModel.availability
export const params: LanguageModels['params'] = LanguageModel.params
// The published types know that the system speaks first by a tuple only.
type Given = Omit<SessionOptions, 'initialPrompts'>
export const create: (options: Given) => Promise<Session> = LanguageModel.create
export const system: LanguageModelSystemMessage = {} as Prompt & { role: 'system' }
export const said: LanguageModelMessage = {} as Said

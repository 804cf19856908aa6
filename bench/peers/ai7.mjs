import * as sdk from 'ai'
import { convertArrayToReadableStream as toStream, MockLanguageModelV4 as Model } from 'ai/test'
import { aiAgent } from './ai-agent.mjs'
import { versionOf } from './version.mjs'

export const candidate = aiAgent({ version: versionOf('ai'), sdk, Model, toStream })

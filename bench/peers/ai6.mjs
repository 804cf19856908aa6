import * as sdk from 'ai6'
import { convertArrayToReadableStream as toStream, MockLanguageModelV3 as Model } from 'ai6/test'
import { aiAgent } from './ai-agent.mjs'
import { versionOf } from './version.mjs'

export const candidate = aiAgent({ version: versionOf('ai6'), sdk, Model, toStream })

import type { Attributes } from '@opentelemetry/api'
import { isHeddleError } from '../../src/index.ts'
import type { LLMInvocation, Reply, ToolInvocation } from '../../src/index.ts'
import { inputMessages, outputMessage, systemInstructions, toolDefinitions } from './content.ts'
import { FINISH } from './finish.ts'

/** Of a request to a model. What nobody set is left out. */
export function chatAttributes(
  { request, provider, model, ctx }: LLMInvocation,
  content: boolean,
): Attributes {
  const { temperature, maxTokens, stop, seed, output } = request
  return known({
    'gen_ai.operation.name': 'chat',
    'gen_ai.conversation.id': ctx.thread,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.request.stream': true,
    'gen_ai.output.type': output && 'json',
    'gen_ai.request.temperature': temperature,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.request.stop_sequences': stop && [...stop],
    'gen_ai.request.seed': seed,
    ...(content && {
      'gen_ai.system_instructions': systemInstructions(request),
      'gen_ai.input.messages': inputMessages(request.messages),
      'gen_ai.tool.definitions': toolDefinitions(request.tools),
    }),
  })
}

/** Of what a model answered. A figure that nobody reported is left out. */
export function replyAttributes(reply: Reply<unknown>, content: boolean): Attributes {
  const { finish, usage } = reply
  return known({
    'gen_ai.response.finish_reasons': [FINISH[finish] ?? finish],
    'gen_ai.usage.input_tokens': usage.input,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning,
    ...(content && { 'gen_ai.output.messages': outputMessage(reply) }),
  })
}

/** Of a tool's call. */
export function toolAttributes({ spec, call }: ToolInvocation, content: boolean): Attributes {
  return known({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': spec.name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': call.id,
    'gen_ai.tool.description': spec.description || undefined,
    ...(content && { 'gen_ai.tool.call.arguments': call.raw }),
  })
}

/** What kind of error it is; its message stays out, as it may hold secrets. */
export function errorKind(error: unknown): string {
  if (isHeddleError(error, 'model_error') && error.details.status !== undefined)
    return String(error.details.status)
  const { name } = Object(error) as { readonly name?: unknown }
  return (typeof name === 'string' && name) || '_OTHER'
}

/** Attributes without those that aren't known. */
export const known = (attributes: { readonly [name: string]: unknown }): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== undefined),
  ) as Attributes

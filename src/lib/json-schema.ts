import type { JsonSchema, Schema } from '../schema.ts'
import { quietly } from './quietly.ts'

/** What a schema takes as JSON Schema, where it can tell (Standard JSON Schema). */
export function jsonSchemaOf(schema: Schema | undefined): JsonSchema | undefined {
  const standard = schema?.['~standard'] as
    | { jsonSchema?: { input(options: { target: string }): JsonSchema } }
    | undefined
  return quietly(() => standard?.jsonSchema?.input({ target: 'draft-2020-12' }))
}

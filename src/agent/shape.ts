import type { Issue, JsonSchema, Schema } from '../schema.ts'

/** What a tool of ours takes, in the words of JSON Schema, with no more of them than we use. */
export type Shape =
  | { readonly type: 'string'; readonly description?: string; readonly enum?: readonly string[] }
  | { readonly type: 'integer'; readonly description?: string; readonly minimum: number }
  | { readonly type: 'array'; readonly description?: string; readonly items: Shape }
  | {
      readonly type: 'object'
      readonly description?: string
      readonly properties: { readonly [name: string]: Shape }
      readonly required: readonly string[]
      readonly additionalProperties: false
    }

/** An object of these members. @param optional Those that may be left out */
export const object = (
  properties: { readonly [name: string]: Shape },
  optional: readonly string[] = [],
): Shape => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})

/** What a tool takes, for its check and for models. */
export function takes<Args>(shape: Shape): {
  readonly input: Schema<Args>
  readonly parameters: JsonSchema
} {
  const validate = (value: unknown): { value: Args } | { issues: readonly Issue[] } => {
    const issues = issuesOf(shape, value, [])
    return issues.length > 0 ? { issues } : { value: value as Args }
  }
  return {
    input: { '~standard': { version: 1, vendor: 'heddle', validate } },
    parameters: { ...shape },
  }
}

function issuesOf(shape: Shape, value: unknown, path: readonly (string | number)[]): Issue[] {
  const wrong = (message: string): Issue[] => [{ message, path }]
  switch (shape.type) {
    case 'string':
      if (typeof value !== 'string') return wrong('Expected a text')
      if (!shape.enum || shape.enum.includes(value)) return []
      return wrong(`Expected one of ${shape.enum.join(', ')}`)
    case 'integer':
      if (Number.isSafeInteger(value) && (value as number) >= shape.minimum) return []
      return wrong(`Expected a whole number from ${shape.minimum} on`)
    case 'array':
      if (!Array.isArray(value)) return wrong('Expected a list')
      return value.flatMap((item, n) => issuesOf(shape.items, item, [...path, n]))
    case 'object': {
      if (Object(value) !== value || Array.isArray(value)) return wrong('Expected an object')
      const given = value as Readonly<Record<string, unknown>>
      const { properties, required } = shape
      const missing = required.filter((name) => !Object.hasOwn(given, name))
      const extra = Object.keys(given).filter((name) => !Object.hasOwn(properties, name))
      return [
        ...missing.map((name) => ({ message: 'Required', path: [...path, name] })),
        ...extra.map((name) => ({ message: 'There is no such argument', path: [...path, name] })),
        ...Object.entries(properties).flatMap(([name, inner]) =>
          Object.hasOwn(given, name) ? issuesOf(inner, given[name], [...path, name]) : [],
        ),
      ]
    }
  }
}

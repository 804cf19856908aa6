import { quietly } from './quietly.ts'

/** Where the library reports what nobody awaited. The default writes nothing below a warning. */
export interface Logger {
  debug(message: string, data?: object): void
  warn(message: string, data?: object): void
  error(message: string, data?: object): void
}

/** The same, but what it throws is dropped: what is logged has gone wrong already. */
export function guarded(logger: Logger): Logger {
  const guard =
    (level: keyof Logger) =>
    (message: string, data?: object): void =>
      quietly(() => logger[level](message, data))
  return { debug: guard('debug'), warn: guard('warn'), error: guard('error') }
}

/** Warnings and errors go to the console. */
export const consoleLogger: Logger = {
  debug() {},
  warn: (message, data) => console.warn(message, data),
  error: (message, data) => console.error(message, data),
}

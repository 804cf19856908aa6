/** Where the library reports what nobody awaited. The default writes nothing below a warning. */
export interface Logger {
  debug(message: string, data?: object): void
  warn(message: string, data?: object): void
  error(message: string, data?: object): void
}

/** The same, but what it throws is dropped: what is logged has gone wrong already. */
export function guarded(logger: Logger): Logger {
  const quietly =
    (level: keyof Logger) =>
    (message: string, data?: object): void => {
      try {
        logger[level](message, data)
      } catch {}
    }
  return { debug: quietly('debug'), warn: quietly('warn'), error: quietly('error') }
}

/** Warnings and errors go to the console. */
export const consoleLogger: Logger = {
  debug() {},
  warn: (message, data) => console.warn(message, data),
  error: (message, data) => console.error(message, data),
}

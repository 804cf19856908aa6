/** Where the library reports what nobody awaited. The default writes nothing below a warning. */
export interface Logger {
  debug(message: string, data?: object): void
  warn(message: string, data?: object): void
  error(message: string, data?: object): void
}

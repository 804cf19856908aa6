import type { Logger } from 'heddle'

/** A logger for what is expected to go wrong. */
export const silent: Logger = { debug() {}, warn() {}, error() {} }

import { openLog } from '../file-log.ts'
import type { Entry, Ledger } from './orders.ts'

/** A ledger in a file. An entry is on the disk before `add` returns, whole or not at all. */
export function fileLedger(file: string): Ledger {
  return {
    entries() {
      const { log, lines } = openLog<Entry>(file)
      log.close()
      return lines
    },
    add(entry) {
      const { log } = openLog<Entry>(file)
      try {
        log.append(entry, true)
      } finally {
        log.close()
      }
    },
  }
}

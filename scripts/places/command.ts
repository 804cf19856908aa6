import { execFile } from 'node:child_process'
import type { Report } from '../../test/runtime/report.ts'

/** Runs a command that prints its report on one line after `@@`. */
export function command(file: string, ...args: readonly string[]): Promise<Report> {
  const options = { timeout: 600_000, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve, reject) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      const line = /^@@(.*)$/m.exec(stdout)?.[1]
      // What runs on after the report keeps a process alive: that is a failure too.
      if (line !== undefined && error === null) resolve(JSON.parse(line) as Report)
      else
        reject(
          new Error(
            `${[file, ...args].join(' ')} gave no report: ${error?.message ?? 'it ended early'}\n${stdout}${stderr}`,
          ),
        )
    })
  })
}

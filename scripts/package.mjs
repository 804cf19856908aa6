// Looks at the built package as a user gets it: every export loads in plain Node, and errors have one class.
import { readdirSync, readFileSync } from 'node:fs'

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const keys = Object.keys(exports).filter((key) => key !== './package.json')
for (const key of keys) {
  const name = key === '.' ? 'heddle' : `heddle/${key.slice('./'.length)}`
  const names = Object.keys(await import(name))
  if (names.length === 0) throw new Error(`"${name}" exports nothing`)
}

// Two definitions of the error classes would break `instanceof` between an adapter and the core.
const files = readdirSync('dist').filter((file) => file.endsWith('.js'))
const defining = files.filter((file) =>
  readFileSync(`dist/${file}`, 'utf8').includes('heddle.error'),
)
if (defining.length !== 1)
  throw new Error(
    `The error classes are defined in ${defining.length} files of dist: ${defining.join(', ')}`,
  )
console.log(`package: ${keys.length} exports load, one copy of the core`)

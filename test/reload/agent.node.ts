import { fileStore } from '../../examples/file-store.ts'
import { visit } from './agent.ts'

const store = await fileStore(process.argv.at(-1)!)
await visit(store, console.log)
await store.close?.()

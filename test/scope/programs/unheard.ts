// Nothing carries contexts, and nobody awaits work that fails.
import { withContext } from '../../../src/index.ts'

process.getBuiltinModule = undefined as never
process.once('unhandledRejection', (reason) => console.log(String(reason)))
void withContext({}, () => Promise.reject(new Error('nobody awaits this')))

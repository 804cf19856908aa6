import type { Open, Suite } from './report.ts'

const everywhere = [
  'node',
  'happy-dom',
  'chromium',
  'firefox',
  'webkit',
  'workerd',
  'deno',
  'bun',
] as const

/** Suites that need nothing of a page: one entry each. `open` opens a store of the place. */
export const suites: readonly Suite[] = [
  {
    name: 'store contract',
    places: ['node', 'workerd', 'deno', 'bun'],
    load: async (open: Open) => (await import('./contract.ts')).contract(open),
  },
  {
    name: 'Deno KV',
    places: ['deno'],
    load: async () => (await import('../adapters/deno-kv.suite.ts')).suite,
  },
  {
    name: 'store contract, encrypted',
    // In Node every suite runs on an encrypted store; where neither does, the next one is enough.
    places: ['happy-dom', 'chromium', 'deno', 'bun'],
    load: async (open: Open) => (await import('./contract.ts')).sealedContract(open),
  },
  {
    name: 'encrypted',
    places: everywhere,
    except: ['memory, encrypted'],
    load: async (open: Open) => (await import('../store/encrypted.suite.ts')).suite(open),
  },
  {
    name: 'isolation (B12)',
    places: everywhere,
    load: async (open: Open) => (await import('../behaviours/isolation.suite.ts')).suite(open),
  },
  {
    name: 'values (B15)',
    places: everywhere,
    load: async (open: Open) => (await import('../behaviours/values.suite.ts')).suite(open),
  },
  {
    name: 'keys (B21)',
    places: everywhere,
    load: async (open: Open) => (await import('../behaviours/keys.suite.ts')).suite(open),
  },
  {
    name: 'transfer',
    places: everywhere,
    load: async (open: Open) => (await import('../behaviours/transfer.suite.ts')).suite(open),
  },
  {
    name: 'hooks (B40)',
    places: everywhere,
    load: async (open: Open) => (await import('../behaviours/hooks.suite.ts')).suite(open),
  },
  {
    name: 'sizes',
    places: everywhere,
    // A key of KV takes one write a second, so a put takes its time.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/sizes.suite.ts')).suite(open),
  },
  {
    name: 'faults (B08, B10, B19)',
    places: everywhere,
    // Miniflare's KV takes minutes for it; a fake that is meaner has it all in test/behaviours.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/faults.suite.ts')).suite(open),
  },
  {
    name: 'cache (B37)',
    places: everywhere,
    // A key of KV takes one write a second; a fake of it has it all in test/cache.
    except: ['KV'],
    load: async (open: Open) => (await import('../cache/cache.suite.ts')).suite(open),
  },
  {
    name: 'canonical JSON (B38)',
    places: everywhere,
    load: async () => (await import('../cache/canonical.suite.ts')).suite,
  },
  {
    name: 'scopes',
    places: everywhere,
    except: ['memory, encrypted', 'KV', 'D1'],
    load: async () => (await import('../scope/scope.suite.ts')).suite,
  },
  {
    name: 'current context, where AsyncLocalStorage is',
    places: ['node', 'happy-dom', 'deno', 'bun'],
    except: ['memory, encrypted'],
    load: async () => (await import('../scope/current.suite.ts')).carried,
  },
  {
    name: 'current context, where it is not',
    places: ['chromium', 'firefox', 'webkit', 'workerd'],
    load: async () => (await import('../scope/current.suite.ts')).lost,
  },
  {
    name: 'heddle/mcp (B36)',
    places: everywhere,
    except: ['KV'],
    load: async (open: Open) => (await import('../adapters/mcp.suite.ts')).suite(open),
  },
  {
    name: 'heddle/ai-sdk',
    places: everywhere,
    except: ['memory, encrypted', 'KV', 'D1'],
    load: async (open: Open) => (await import('../adapters/ai-sdk.suite.ts')).suite(open),
  },
  {
    name: 'heddle/ai-sdk over a socket',
    places: ['deno', 'bun'],
    except: ['memory', 'Deno KV'],
    load: async (open: Open) => (await import('../adapters/ai-sdk.suite.ts')).overSocket(open),
  },
  {
    name: 'heddle/openai',
    places: everywhere,
    except: ['memory, encrypted', 'KV', 'D1'],
    load: async (open: Open) => (await import('../adapters/openai.suite.ts')).suite(open),
  },
  {
    name: 'heddle/openai over a socket',
    // Of the stores of Deno, the one whose run may use the network; Node has it in test/adapters.
    places: ['deno', 'bun'],
    except: ['memory', 'Deno KV'],
    load: async (open: Open) => (await import('../adapters/openai.suite.ts')).overSocket(open),
  },
  {
    name: 'heddle/prompt-api',
    places: everywhere,
    // It opens no store: one is enough.
    except: ['memory, encrypted', 'KV', 'D1', 'Deno KV'],
    load: async () => (await import('../adapters/prompt-api.suite.ts')).suite(),
  },
  {
    name: 'records of runs, models and questions',
    places: everywhere,
    // Each request claims anew, and a head takes one write a second.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/records.suite.ts')).suite(open),
  },
  {
    name: 'tools in threads (B02, B06, B09, B32)',
    places: everywhere,
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/calls.suite.ts')).suite(open),
  },
  {
    name: 'around tools in threads (B40)',
    places: everywhere,
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/called.suite.ts')).suite(open),
  },
  {
    name: 'policies',
    places: everywhere,
    except: ['KV'],
    load: async (open: Open) => (await import('../policy/policies.suite.ts')).suite(open),
  },
  {
    name: 'tools outside threads (B25, B37, B40)',
    places: everywhere,
    // It opens no store: one is enough.
    except: ['memory, encrypted', 'KV', 'D1'],
    load: async () => (await import('../tool/tools.suite.ts')).suite(),
  },
  {
    name: 'messages (B14)',
    places: everywhere,
    // A key of KV takes one write a second.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/messages.suite.ts')).suite(open),
  },
  {
    name: 'requests to models outside threads (B25, B32, B40)',
    places: everywhere,
    // It opens no store: one is enough.
    except: ['memory, encrypted', 'KV', 'D1'],
    load: async () => (await import('../model/models.suite.ts')).suite(),
  },
  {
    name: 'requests to models in threads (B09, B32)',
    places: everywhere,
    // A key of KV takes one write a second.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/generate.suite.ts')).suite(open),
  },
  {
    name: 'approvals (B09, B32, B36)',
    places: everywhere,
    // A key of KV takes one write a second.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/approvals.suite.ts')).suite(open),
  },
  {
    name: 'usage',
    places: everywhere,
    // A key of KV takes one write a second; a fake of it has it all in test/behaviours.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/usage.suite.ts')).suite(open),
  },
  {
    name: 'what a failed task leaves',
    places: everywhere,
    // A key of KV takes one write a second; a fake of it has it all in test/behaviours.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/leave.suite.ts')).suite(open),
  },
  {
    name: 'agents (B09, B32, B36)',
    places: everywhere,
    // A key of KV takes one write a second.
    except: ['KV'],
    load: async (open: Open) => (await import('../behaviours/agent.suite.ts')).suite(open),
  },
]

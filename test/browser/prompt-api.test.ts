import { promptApi, promptApiAvailability } from 'heddle/prompt-api'
import { expect, test } from 'vitest'

test('Chromium for tests has the API but no model, and says so', async () => {
  expect('LanguageModel' in globalThis).toBe(true)
  expect(await promptApiAvailability()).toBe('unavailable')
  const events = promptApi().stream(
    { messages: [{ role: 'user', id: 'm', text: 'Hello', createdAt: '' }] },
    { signal: new AbortController().signal, call: 'call_1' },
  )
  const request = events[Symbol.asyncIterator]().next()
  await expect(request).rejects.toMatchObject({
    code: 'model_error',
    message:
      'Cannot ask model "browser/prompt-api": it is not available here, or not for such a request',
  })
})

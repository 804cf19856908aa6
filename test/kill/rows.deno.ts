import { denoKv } from 'heddle/deno-kv'

const [file, phase] = Deno.args
const kv = await Deno.openKv(file)
const store = denoKv(kv)
if (phase === 'write') {
  const start = (await store.list({ prefix: 'h/', limit: 100_000 })).length
  // Goes on writing until it is killed, in the middle of some commit.
  for (let n = start + 1; ; n++) {
    const value = `${n}`.padEnd(5000, '.')
    const puts = [`h/${n}`, `t/${n}`].map((key) => ({ key, value }))
    if (await store.commit({ puts })) console.log(n)
  }
}
for (const { key, value } of await store.list({ prefix: '', limit: 100_000 }))
  console.log(JSON.stringify(`${key} ${value.replaceAll('.', '')} ${value.length}`))
kv.close()

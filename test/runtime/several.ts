import { report, type Open, type Place, type Report, type Suite } from './report.ts'

/** Reports on every store of a place, one after the other: each tells the story, and all must tell it alike. */
export async function reportOn(
  place: Place,
  stores: Readonly<Record<string, Open>>,
  suites: readonly Suite[],
): Promise<Report> {
  const reports: Report[] = []
  for (const [store, open] of Object.entries(stores)) {
    const meant = suites.filter(({ except = [] }) => !except.includes(store))
    const { results, ...told } = await report(place, open, meant)
    const named = results.map((result) => ({ ...result, suite: `${store} > ${result.suite}` }))
    reports.push({ results: named, ...told })
  }
  return merged(reports)
}

/** One report of several. */
export function merged(reports: readonly Report[]): Report {
  const results = reports.flatMap((one) => one.results)
  const transcripts = reports.flatMap(({ transcript }) => (transcript ? [transcript] : []))
  const [first] = transcripts
  for (const transcript of transcripts.slice(1)) {
    const at = transcript.findIndex((line, n) => line !== first![n])
    const same = at < 0 && transcript.length === first!.length
    results.push({
      suite: 'story',
      name: 'is told alike on every store',
      ...(!same && { error: `line ${at + 1}\n${first![at]}\n${transcript[at]}` }),
    })
  }
  return { results, ...(first && { transcript: first }) }
}

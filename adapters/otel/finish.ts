/** What a reason to stop is called by the conventions, where that is another name than ours. */
export const FINISH: { readonly [reason: string]: string } = {
  calls: 'tool_call',
  filter: 'content_filter',
}

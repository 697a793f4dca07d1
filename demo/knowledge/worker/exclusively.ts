/** Runs work in one tab at a time. A browser without locks lets each tab run it. */
export async function exclusively(work: () => Promise<void>): Promise<void> {
  if (navigator.locks) await navigator.locks.request('pinnace-knowledge', work);
  else await work();
}

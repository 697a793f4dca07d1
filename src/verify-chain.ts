/** Checking a chain of events: whether each stands where it was put, as it was. */

import {
  hashOf,
  type Head,
  headOf,
  type KeptEvent,
  numberOf,
  origin,
  recordOf,
  type StoredChain,
} from './event-records.ts';
import type { Entry } from './ports.ts';

/** What checking the chain found. */
export interface Verification {
  readonly ok: boolean;
  /** How many events were checked. */
  readonly checked: number;
  /** The first that is missing, was changed or stands in the wrong place; where one record has several, the first of these. */
  readonly brokenAt?: number;
}

/** The last event that was seen at some time, kept outside of the storage. */
export interface ChainAnchor {
  readonly seq: number;
  readonly hash: string;
}

/**
 * Reads the whole chain and computes it again. Stops with the signal. With an anchor, a chain that ends before it or has another hash
 * there is broken: without one, a chain that was rolled back as a whole cannot be noticed.
 */
export async function verifyChain(
  chain: StoredChain<KeptEvent>,
  { signal, anchor }: { readonly signal?: AbortSignal | undefined; readonly anchor?: ChainAnchor | undefined },
): Promise<Verification> {
  const { storage, prefix, ttl, form: { records: name, readAtOnce } } = chain;
  const records = [...prefix, name];
  const head = headOf(await storage.get([...prefix, 'head']));
  if (anchor && head.seq < anchor.seq) return { ok: false, checked: 0, brokenAt: head.seq + 1 };
  const mayExpire = ttl.ttlMs !== undefined;
  let before = mayExpire ? undefined : origin;
  let checked = 0;
  for (;;) {
    signal?.throwIfAborted();
    const page = await storage.list({ prefix: records, after: [...records, before?.seq ?? 0], limit: readAtOnce });
    for (const entry of page) {
      const number = numberOf(entry);
      if (number > head.seq) return { ok: true, checked }; // added since
      const next = await follow(chain, entry, before);
      if (!next) return { ok: false, checked, brokenAt: before ? before.seq + 1 : number };
      if (next.seq === anchor?.seq && next.hash !== anchor.hash) return { ok: false, checked, brokenAt: next.seq };
      checked += next.seq - number + 1;
      before = next;
    }
    if (page.length < readAtOnce) break;
  }
  const end = before ?? head; // all that there was has expired
  return end.seq === head.seq && end.hash === head.hash
    ? { ok: true, checked }
    : { ok: false, checked, brokenAt: end.seq + 1 };
}

/** The end of the chain behind this record, if it follows what is before. Where that has expired, any number may follow. */
async function follow(
  { form }: StoredChain<KeptEvent>,
  entry: Entry,
  before: Head | undefined,
): Promise<Head | undefined> {
  const number = numberOf(entry);
  const record = recordOf(entry);
  const { prevHash, hash } = record;
  const events = form.eventsOf(record);
  const known = before ?? (number === 1 ? origin : { seq: number - 1, hash: prevHash });
  const isNext = events.length > 0 && number === known.seq + 1 && prevHash === known.hash;
  if (!isNext || events.some(({ seq }, i) => seq !== number + i)) return undefined;
  return hash === await hashOf(prevHash, form.textOf(record)) ? { seq: known.seq + events.length, hash } : undefined;
}

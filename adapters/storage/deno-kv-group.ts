/** Groups concurrent commits into one atomic operation of Deno KV, which pays for each transaction. */

import type { CommitResult } from '../../src/contracts/storage.ts';
import { findConflicts } from './changes.ts';
import {
  commitDrafts,
  createRoom,
  type Draft,
  type FoundHead,
  livingVersion,
  readHeads,
  writeHeads,
} from './deno-kv-commit.ts';

/** Commits drafts, alone or with others that wait. Those that wait at one time must name different keys. */
export type CommitGrouped = (kv: Deno.Kv, drafts: readonly Draft[]) => Promise<CommitResult>;

interface Waiting {
  readonly kv: Deno.Kv;
  readonly drafts: readonly Draft[];
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** While one is on its way, the next is read and put together. */
const groupsAtOnce = 2;

/** Returns the function that commits. A single commit starts at once; commits during others are grouped. */
export function groupCommits(now: () => number): CommitGrouped {
  let waiting: Waiting[] = [];
  let underWay = 0;
  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = takeGroup(waiting);
      waiting = waiting.slice(group.length);
      await commitGroup(group, now);
    }
    underWay -= 1;
  };
  return (kv, drafts) => {
    // Values in parts need writes of their own before.
    if (drafts.some(({ parts }) => parts !== undefined)) return commitDrafts(kv, drafts, now);
    const { promise, resolve, reject } = Promise.withResolvers<CommitResult>();
    waiting.push({ kv, drafts, resolve, reject });
    if (underWay < groupsAtOnce) {
      underWay += 1;
      queueMicrotask(() => void work());
    }
    return promise;
  };
}

/** As many as one operation takes, in the order in which they came. */
function takeGroup(waiting: readonly Waiting[]): readonly Waiting[] {
  const room = createRoom();
  const end = waiting.findIndex(({ kv, drafts }, at) => {
    const fits = room.take(drafts) && kv === waiting[0]?.kv;
    return at > 0 && !fits;
  });
  return waiting.slice(0, end < 0 ? waiting.length : end);
}

/** Settles every commit of the group, and resolves when Deno KV is done with it. Never rejects. */
async function commitGroup(group: readonly Waiting[], now: () => number): Promise<void> {
  const [first] = group;
  if (!first) return;
  if (group.length === 1) return await commitAlone(first, now);
  try {
    const heads = await readHeads(first.kv, group.flatMap(({ drafts }) => drafts), { mayAssume: true });
    const { together, apart } = decide(group, heads, now());
    const version = together.length === 0 ? undefined : await writeTogether(first.kv, together, now());
    for (const { one } of together) if (version !== undefined) one.resolve({ ok: true, version });
    // Another process came between: whose keys it has touched is found out one by one.
    const again = version === undefined ? together.map(({ one }) => one) : [];
    await Promise.all([...apart, ...again].map((one) => commitAlone(one, now)));
  } catch (error) {
    for (const { reject } of group) reject(error); // those that are settled already stay so
  }
}

interface Decided {
  readonly one: Waiting;
  readonly heads: readonly FoundHead[];
}

/** Resolves the conflicting commits, and separates those that replace values in parts, which need writes of their own. */
function decide(
  group: readonly Waiting[],
  found: readonly FoundHead[],
  time: number,
): { readonly together: readonly Decided[]; readonly apart: readonly Waiting[] } {
  const [together, apart]: [Decided[], Waiting[]] = [[], []];
  let at = 0;
  for (const one of group) {
    const heads = found.slice(at, at += one.drafts.length);
    const conflicts = findConflicts(one.drafts.map(({ change }) => change), (_, i) => livingVersion(heads[i], time));
    const isUnknown = conflicts.length > 0 && heads.some(({ isAssumed }) => isAssumed); // those may differ, too
    if (isUnknown || heads.some(({ value }) => value?.parts)) apart.push(one);
    else if (conflicts.length > 0) one.resolve({ ok: false, conflicts });
    else together.push({ one, heads });
  }
  return { together, apart };
}

async function writeTogether(kv: Deno.Kv, commits: readonly Decided[], time: number): Promise<string | undefined> {
  const heads = commits.flatMap((commit) => commit.heads);
  return await writeHeads(kv, commits.flatMap(({ one }) => one.drafts), { heads, marker: undefined, time });
}

async function commitAlone({ kv, drafts, resolve, reject }: Waiting, now: () => number): Promise<void> {
  await commitDrafts(kv, drafts, now).then(resolve, reject);
}

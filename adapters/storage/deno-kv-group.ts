/** Groups concurrent commits into one atomic operation of Deno KV, which pays for each transaction. */

import type { CommitResult } from '../../src/contracts/storage.ts';
import { assumptions, type CommitContext, commitDrafts, conflictsOf, writeHeads } from './deno-kv-commit.ts';
import { createRoom } from './deno-kv-draft.ts';
import { createHeadMemory, type Draft, type FoundHead, readHeads } from './deno-kv-heads.ts';

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
  const context = { now, memory: createHeadMemory() };
  let waiting: Waiting[] = [];
  let underWay = 0;
  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = takeGroup(waiting);
      waiting = waiting.slice(group.length);
      await commitGroup(group, context);
    }
    underWay -= 1;
  };
  return (kv, drafts) => {
    // Values in parts need writes of their own before.
    if (drafts.some(({ parts }) => parts !== undefined)) return commitDrafts(kv, drafts, context);
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
async function commitGroup(group: readonly Waiting[], context: CommitContext): Promise<void> {
  const [first] = group;
  if (!first) return;
  if (group.length === 1) return await commitAlone(first, context);
  try {
    const alone: Waiting[] = [];
    let rest = group;
    // Where a state was not as assumed, all are read once more. After that, other writers are too fast for so many at once.
    for (const mayAssume of [true, false]) {
      const { together, apart } = await decide(rest, { kv: first.kv, mayAssume, context });
      alone.push(...apart);
      rest = await writeTogether(first.kv, together, context);
      if (rest.length === 0) break;
    }
    await Promise.all([...alone, ...rest].map((one) => commitAlone(one, context)));
  } catch (error) {
    for (const { reject } of group) reject(error); // those that are settled already stay so
  }
}

interface Decided {
  readonly one: Waiting;
  readonly heads: readonly FoundHead[];
}

/** Resolves the conflicting commits, and separates those that replace values in parts, which need writes of their own. */
async function decide(
  group: readonly Waiting[],
  { kv, mayAssume, context }: {
    readonly kv: Deno.Kv;
    readonly mayAssume: boolean;
    readonly context: CommitContext;
  },
): Promise<{ readonly together: readonly Decided[]; readonly apart: readonly Waiting[] }> {
  const [together, apart]: [Decided[], Waiting[]] = [[], []];
  // A wrong guess would fail the whole group.
  const assumed = mayAssume ? assumptions(context, false) : undefined;
  const found = await readHeads(kv, group.flatMap(({ drafts }) => drafts), assumed);
  let at = 0;
  for (const one of group) {
    const heads = found.slice(at, at += one.drafts.length);
    const conflicts = conflictsOf(one.drafts, heads, context.now());
    const isUnknown = conflicts.length > 0 && heads.some(({ isAssumed }) => isAssumed); // those may differ, too
    if (isUnknown || heads.some(({ value }) => value?.parts)) apart.push(one);
    else if (conflicts.length > 0) one.resolve({ ok: false, conflicts });
    else together.push({ one, heads });
  }
  return { together, apart };
}

/** Writes them in one operation, and returns those that another process came before: none or all. */
async function writeTogether(
  kv: Deno.Kv,
  commits: readonly Decided[],
  { now, memory }: CommitContext,
): Promise<readonly Waiting[]> {
  if (commits.length === 0) return [];
  const heads = commits.flatMap((commit) => commit.heads);
  const drafts = commits.flatMap(({ one }) => one.drafts);
  const versionstamp = await writeHeads(kv, drafts, { heads, marker: undefined, time: now(), memory });
  if (versionstamp === undefined) return commits.map(({ one }) => one);
  for (const { one } of commits) one.resolve({ ok: true, version: versionstamp + (one.drafts[0]?.mark ?? '') });
  return [];
}

async function commitAlone({ kv, drafts, resolve, reject }: Waiting, context: CommitContext): Promise<void> {
  await commitDrafts(kv, drafts, context).then(resolve, reject);
}

import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { answeringStorage } from '../../../src/log/answering-storage.ts';
import { PinnaceError, type Storage } from '../../../src/index.ts';
import { type Journal, openJournal } from '../../../src/log/journal.ts';
import { creation, readItems, readJournal, readLastSeq, takeOver } from '../../../src/log/journal-record.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';

const prefix = ['log', 'a'];
const at = 1_800_000_000_000;
/** How long commits of items leave the head. */
let headMs = 0;

interface Opened {
  readonly journal: Journal<string>;
  readonly seen: number[];
  readonly lost: PinnaceError[];
}

async function create(storage: Storage, items: readonly string[] = [], graceMs = 0): Promise<Opened> {
  const { head, changes } = creation(prefix, { state: 'new', at, ttlMs: 60_000, items });
  const result = await storage.commit(changes);
  if (!result.ok) throw new Error('There is one already');
  return open(storage, { head, version: result.version }, graceMs);
}

function open(
  storage: Storage,
  held: Pick<Parameters<typeof openJournal<string>>[0], 'head' | 'version'>,
  graceMs = 0,
): Opened {
  const seen: number[] = [];
  const lost: PinnaceError[] = [];
  const journal = openJournal<string>({
    ...held,
    storage,
    prefix,
    now: () => at,
    ttlMs: 60_000,
    headMs,
    graceMs,
    onCommit: (seq) => seen.push(seq),
    onLost: (error) => lost.push(error),
  });
  return { journal, seen, lost };
}

async function itemsOf(storage: Storage): Promise<string[]> {
  const all: string[] = [];
  for (let page = await readItems(storage, prefix, 0); page.length > 0;) {
    all.push(...page.map(({ item }) => item));
    page = await readItems(storage, prefix, page.at(-1)?.seq ?? 0);
  }
  return all;
}

function faulty(fault: (commit: () => ReturnType<Storage['commit']>, count: number) => ReturnType<Storage['commit']>) {
  const storage = memoryStorage();
  let count = 0;
  return { ...storage, commit: (changes) => fault(() => storage.commit(changes), ++count) } satisfies Storage;
}

describe.each([
  { mode: 'that writes its head with every commit', leavesHeadMs: 0 },
  { mode: 'that only checks its head', leavesHeadMs: 60_000 },
])('a journal $mode', ({ leavesHeadMs }) => {
  beforeEach(() => void (headMs = leavesHeadMs));

  it('commits what one turn appends together, at its end and without a timer', async () => {
    const storage = memoryStorage();
    const { journal, seen } = await create(storage);
    journal.append(['a']);
    journal.append(['b', 'c'], { state: 'later', changes: [{ key: ['beside'], value: 1 }] });
    await journal.flush();
    expect(seen[0]).toBe(3);
    expect(await itemsOf(storage)).toEqual(['a', 'b', 'c']);
    expect(await readJournal(storage, prefix)).toMatchObject({ head: { seq: 3, state: 'later' } });
    expect((await storage.get(['beside']))?.value).toBe(1);
  });

  it('never lets a reader see a part of what one append added, however long', async () => {
    const storage = memoryStorage();
    const { journal, seen } = await create(storage, ['first']);
    const group = Array.from({ length: 3000 }, (_, i) => `${i} ${'x'.repeat(300)}`);
    journal.append(group);
    journal.append(group);
    journal.append(['last']);
    await journal.flush();
    expect(seen).toEqual([3001, 6001, 6002].slice(-seen.length));
    for (const seq of seen) expect([3001, 6001, 6002]).toContain(seq);
    expect(await itemsOf(storage)).toEqual(['first', ...group, ...group, 'last']);
  });

  it('takes the last of two changes of one key that go into one commit', async () => {
    const storage = memoryStorage();
    const { journal } = await create(storage);
    journal.append([], { changes: [{ key: ['k'], value: 1 }] });
    journal.append([], { changes: [{ key: ['k'], value: 2 }] });
    await journal.flush();
    expect((await storage.get(['k']))?.value).toBe(2);
  });

  it('goes on when the answer to a commit is lost', async () => {
    const storage = faulty(async (commit, count) => {
      const result = await commit();
      if (count === 2) throw new PinnaceError('unavailable', 'The network failed');
      return result;
    });
    const { journal, lost } = await create(storage);
    journal.append(['a']);
    await journal.flush();
    journal.append(['b']);
    await journal.flush();
    expect(lost).toEqual([]);
    expect(await itemsOf(storage)).toEqual(['a', 'b']);
  });

  it('commits once more when nothing was written, and is lost when that fails too', async () => {
    let failing = 1;
    const storage = faulty((commit, count) => {
      if (count > 1 && failing-- > 0) return Promise.reject(new PinnaceError('unavailable', 'The disk failed'));
      return commit();
    });
    const { journal, lost } = await create(storage);
    journal.append(['a']);
    await journal.flush();
    expect(await itemsOf(storage)).toEqual(['a']);
    failing = 2;
    journal.append(['b']);
    await expect(journal.flush()).rejects.toMatchObject({ code: 'unavailable' });
    expect(lost).toHaveLength(1);
    expect(await itemsOf(storage)).toEqual(['a']);
  });

  it('writes everything once when the storage is away for less than the grace', async () => {
    using time = virtualTime();
    let away = false;
    let answers = true;
    const storage = faulty(async (commit) => {
      if (away) throw new PinnaceError('unavailable', 'The server restarts');
      const result = await commit();
      if (!answers) throw new PinnaceError('unavailable', 'The answer was lost');
      return result;
    });
    const { journal, lost } = await create(storage, [], 10_000);
    answers = false;
    journal.append(['a']);
    setTimeout(() => (away = true), 10);
    setTimeout(() => (away = false, answers = true), 9_000);
    await time.pass(5_000);
    journal.append(['b']);
    const flushed = journal.flush();
    expect(await time.passUntil(flushed, 6_000)).toBe(true);
    expect(lost).toEqual([]);
    expect(await itemsOf(storage)).toEqual(['a', 'b']);
    expect(time.timers).toBe(0);
  });

  it('is lost when the storage is away for longer, and stops trying', async () => {
    using time = virtualTime();
    let away = false;
    let tries = 0;
    const storage = faulty((commit) => {
      tries += 1;
      return away ? new Promise(() => undefined) : commit();
    });
    const { journal, lost } = await create(answeringStorage(storage), [], 10_000);
    away = true;
    journal.append(['a']);
    const flushed = journal.flush().catch((error: unknown) => error);
    expect(await time.passUntil(flushed, 15_100)).toBe(true);
    expect(await flushed).toMatchObject({ code: 'unavailable' });
    expect(lost).toHaveLength(1);
    const before = tries;
    await time.pass(60_000);
    expect(tries).toBe(before);
  });

  it('is taken over by one of two who try at once, also where the storage repeats a commit whose answer was lost', async () => {
    const storage = faulty(async (commit) => (await commit(), await commit()));
    const { changes } = creation(prefix, { state: 'new', at, ttlMs: 60_000, items: [] });
    await storage.commit(changes);
    const options = { storage, prefix, now: () => at, ttlMs: 60_000 };
    const taken = await Promise.all([takeOver<string>(options), takeOver<string>(options)]);
    expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it('is lost when another owner takes it over, and writes nothing more', async () => {
    const storage = memoryStorage();
    const first = await create(storage);
    first.journal.append(['a']);
    await first.journal.flush();
    const options = { storage, prefix, now: () => at, ttlMs: 60_000 };
    expect(await takeOver({ ...options, when: () => false })).toBeUndefined();
    const taken = await takeOver<string>(options);
    if (!taken) throw new Error('It was not taken');
    const second = open(storage, taken);
    first.journal.append(['from the first']);
    await expect(first.journal.flush()).rejects.toMatchObject({ code: 'conflict' });
    second.journal.append(['b']);
    await second.journal.flush();
    expect(await itemsOf(storage)).toEqual(['a', 'b']);
    expect(first.lost).toMatchObject([{ code: 'conflict' }]);
    expect(taken.head.fence).toBe(2);
  });
});

describe('a journal that only checks its head', () => {
  beforeEach(() => void (headMs = 60_000));

  it('leaves the head as it is until the state changes, and readers find the last item', async () => {
    const storage = memoryStorage();
    const { journal } = await create(storage, ['a']);
    const before = await readJournal(storage, prefix);
    journal.append(['b', 'c']);
    await journal.flush();
    expect(await readJournal(storage, prefix)).toEqual(before);
    expect(await readLastSeq(storage, prefix, 1)).toBe(3);
    journal.append(['d'], { state: 'later' });
    await journal.flush();
    expect(await readJournal(storage, prefix)).toMatchObject({ head: { seq: 4, state: 'later' } });
  });

  it('commits an optional change with the state, and the rest alone where that conflicts', async () => {
    for (const [ifVersion, expected] of [[null, 'ours'], ['another', undefined]] as const) {
      const storage = memoryStorage();
      const { journal, lost } = await create(storage);
      const versions: string[] = [];
      const change = { key: ['other'], value: 'ours', ifVersion };
      journal.append(['a'], { state: 'over', optional: { change, onWritten: (version) => versions.push(version) } });
      await journal.flush();
      const head = await readJournal(storage, prefix);
      expect(head).toMatchObject({ head: { seq: 1, state: 'over' } });
      expect((await storage.get(['other']))?.value).toBe(expected);
      expect(versions).toEqual(expected ? [head?.version] : []);
      expect(lost).toEqual([]);
    }
  });

  it('writes its head where the storage cannot check a version', async () => {
    const { checks: _, ...storage } = memoryStorage();
    const { journal } = await create(storage);
    journal.append(['a']);
    await journal.flush();
    expect(await readJournal(storage, prefix)).toMatchObject({ head: { seq: 1 } });
  });

  it('is taken over with all items, and its former owner adds none', async () => {
    const storage = memoryStorage();
    const { journal, lost } = await create(storage);
    journal.append(['a']);
    await journal.flush();
    journal.append(['b']);
    await journal.flush();
    const taken = await takeOver<string>({ storage, prefix, now: () => at, ttlMs: 60_000 });
    expect(taken).toMatchObject({ head: { seq: 2, fence: 2 } });
    journal.append(['too late']);
    await expect(journal.flush()).rejects.toMatchObject({ code: 'conflict' });
    expect(lost).toHaveLength(1);
    expect(await itemsOf(storage)).toEqual(['a', 'b']);
  });

  it('commits together what several callers of one turn wait for', async () => {
    let commits = 0;
    const storage = faulty((commit) => (commits += 1, commit()));
    const { journal } = await create(storage);
    await Promise.all(['a', 'b', 'c'].map((item) => (journal.append([item]), journal.flush())));
    expect(commits).toBe(2); // the creation, and the three
    expect(await itemsOf(storage)).toEqual(['a', 'b', 'c']);
  });

  it('commits nothing more after an end that was committed with others', async () => {
    let commits = 0;
    const storage = faulty((commit) => (commits += 1, commit()));
    const { journal } = await create(storage);
    journal.append(['a']);
    const first = journal.flush();
    journal.append(['end'], { state: 'ended' });
    await Promise.all([first, journal.flush()]);
    expect(commits).toBe(2); // the creation, and what came in one turn
    expect(await itemsOf(storage)).toEqual(['a', 'end']);
  });
});

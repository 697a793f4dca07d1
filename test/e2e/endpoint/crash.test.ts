import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UIMessageChunk } from '../../../src/index.ts';
import { share } from '../../fixtures/budget.ts';
import {
  type DatabaseKind,
  databases,
  isInstalled,
  openDatabase,
  type SharedDatabase,
} from '../../fixtures/processes/shared-database.ts';
import { runRequest, terminalChunks, userMessage } from '../../fixtures/runtime.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';

let folder: string;
let database: SharedDatabase;
const started: EndpointProcess[] = [];
/** The instance that lives on. */
let survivor: EndpointProcess;

async function open(kind: DatabaseKind): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'pinnace-crash-'));
  await writeFile(join(folder, 'effects'), '');
  database = await openDatabase(kind, folder);
  survivor = await start({});
}

async function close(): Promise<void> {
  await Promise.all(started.splice(0).map((endpoint) => endpoint.stop('SIGKILL')));
  await database?.stop();
  await rm(folder, { recursive: true, force: true });
}

async function start(env: Record<string, string>): Promise<EndpointProcess> {
  const endpoint = await startEndpoint({
    script: 'test/fixtures/processes/crash-server.ts',
    env: { ...database.env, CRASH_EFFECTS: join(folder, 'effects'), ...env },
    permissions: database.permissions,
    reaches: database.reaches,
  });
  started.push(endpoint);
  return endpoint;
}

/** Asks for the effect of this name, by a key of the same name; again while another instance seems to have the run. */
async function ask(endpoint: EndpointProcess, name: string): Promise<{ text: string; replayed: boolean }> {
  let response = await post(endpoint, name);
  while (response.status === 409) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    response = await post(endpoint, name);
  }
  expect(response.status).toBe(200);
  return { text: await textUntilCut(response), replayed: response.headers.has('idempotency-replayed') };
}

async function post({ url, token }: EndpointProcess, name: string): Promise<Response> {
  return await fetch(`${url}/v1/runs`, {
    method: 'POST',
    body: JSON.stringify(runRequest({ chat: { id: name, messages: [userMessage(`append ${name}`)] } })),
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"the-key-of-${name}"`,
    },
  });
}

async function textUntilCut(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  } catch {
    // The process was killed: what came until then is what the client has.
  }
  return text;
}

/** What a client got of a run whose instance killed itself beside a commit; nothing when it did so before it could answer. */
async function crash(name: string, env: Record<string, string>): Promise<string> {
  const endpoint = await start(env);
  const { text } = await ask(endpoint, name).catch((error: unknown) => {
    if (error instanceof TypeError) return { text: '' };
    throw error;
  });
  await endpoint.stop('SIGKILL');
  return text;
}

const isWhole = (text: string): boolean => text.endsWith('data: [DONE]\n\n');

function chunksOf(text: string): UIMessageChunk[] {
  const data = text.split('\n').filter((line) => line.startsWith('data: {')).map((line) => line.slice(6));
  return data.map((chunk) => JSON.parse(chunk) as UIMessageChunk);
}

type Fate = 'first run by the retry' | 'continued' | 'continued with an unknown outcome' | 'completed' | 'limited';

/** Retries at the survivor, and holds what it answers against what was seen and what was done. */
async function verify(name: string, seen: string): Promise<Fate> {
  const { text, replayed } = await ask(survivor, name);
  const chunks = chunksOf(text);
  const effects = (await readFile(join(folder, 'effects'), 'utf8')).split('\n').filter((line) => line === name).length;
  const told = chunks.filter(({ type }) => type === 'tool-output-available').length;
  const unknown = chunks.filter((chunk) =>
    chunk.type === 'data-tool-error' && (chunk.data as { code: string }).code === 'outcome_unknown'
  );
  expect(isWhole(text)).toBe(true);
  expect(terminalChunks(chunks)).toHaveLength(1);
  expect(text.startsWith(seen)).toBe(true);
  expect(effects).toBeLessThanOrEqual(1);
  expect(told + unknown.length).toBeLessThanOrEqual(1);
  expect(told + unknown.length).toBeGreaterThanOrEqual(effects); // every side effect is reported, or reported as unknown
  expect(told).toBeLessThanOrEqual(effects);
  expect((await ask(survivor, name)).text).toBe(text);
  const [end] = terminalChunks(chunks);
  if (end?.type === 'finish') {
    if (unknown.length > 0) return 'continued with an unknown outcome';
    expect({ effects, told }).toEqual({ effects: 1, told: 1 });
    if (text.includes('"type":"data-recovery"')) return 'continued';
    return replayed ? 'completed' : 'first run by the retry';
  }
  expect(replayed).toBe(true);
  expect(text).toContain('"why":"recovery_limit"');
  return 'limited';
}

/** As many at a time as the machine has cores for, and a little more: most of a start is waiting. */
const atOnce = 3;

/** Crashes at the first commit, the second and so on, until a run needs fewer; returns the outcome of each. */
async function crashEverywhere(when: 'before' | 'after'): Promise<Fate[]> {
  const fates: Fate[] = [];
  for (let first = 1; first < 40; first += atOnce) {
    const trials = Array.from({ length: atOnce }, async (_, i) => {
      const name = `${when}-${first + i}`;
      const seen = await crash(name, { [`CRASH_${when.toUpperCase()}`]: String(first + i) });
      return { fate: await verify(name, seen), whole: isWhole(seen) };
    });
    const done = await Promise.all(trials);
    fates.push(...done.filter(({ whole }) => !whole).map(({ fate }) => fate));
    if (done.every(({ whole }) => whole)) return fates; // how many commits a run takes is a matter of time
  }
  throw new Error('Every run crashed');
}

for (const kind of share(databases, 2)) {
  describe.skipIf(!isInstalled(kind))(
    `a run over ${kind} whose process is killed at a commit, when it is asked for again`,
    () => {
      beforeAll(() => open(kind));
      afterAll(close);
      it('has acted at most once and reports what is unknown, killed before any commit', async () => {
        const fates = await crashEverywhere('before');
        expect(fates.length).toBeGreaterThanOrEqual(5);
        expect(fates[0]).toBe('first run by the retry');
        expect(fates.slice(1)).not.toContain('first run by the retry');
        expect(fates).toContain('continued');
        expect(fates).not.toContain('limited');
      });

      it('has acted at most once and reports what is unknown, killed after any commit', async () => {
        const fates = await crashEverywhere('after');
        expect(fates.length).toBeGreaterThanOrEqual(5);
        expect(fates[0]).toBe('continued');
        expect(fates).not.toContain('limited');
      });

      it('has a call with an unknown outcome, killed right after the record of a call that may act', async () => {
        const seen = await crash('recorded-call', { CRASH_AFTER: 'call' });
        expect(await verify('recorded-call', seen)).toBe('continued with an unknown outcome');
      });

      it('is continued or ended once, however often the instance that continues it is killed too', async () => {
        const crashes = [['before', '1'], ['after', '1'], ['before', '2'], ['after', '2']] as const;
        const fates = await Promise.all(crashes.map(async ([when, commit]) => {
          const name = `twice-${when}-${commit}`;
          const seen = await crash(name, { CRASH_AFTER: '5' });
          await crash(name, { [`CRASH_${when.toUpperCase()}`]: commit });
          return await verify(name, seen);
        }));
        for (const fate of fates) expect(fate).toMatch(/^continued|limited/);
      });
    },
  );
}

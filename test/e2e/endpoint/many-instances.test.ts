import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { share } from '../../fixtures/budget.ts';
import {
  type DatabaseKind,
  isInstalled,
  openDatabase,
  type SharedDatabase,
} from '../../fixtures/processes/shared-database.ts';
import { runRequest, userMessage } from '../../fixtures/runtime.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';

let folder: string;
let database: SharedDatabase;
const started: EndpointProcess[] = [];

async function open(kind: DatabaseKind): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'pinnace-many-'));
  await writeFile(join(folder, 'effects'), '');
  database = await openDatabase(kind, folder);
}

async function close(): Promise<void> {
  await Promise.all(started.splice(0).map((endpoint) => endpoint.stop('SIGKILL')));
  await database?.stop();
  await rm(folder, { recursive: true, force: true });
}

async function start(env: Record<string, string> = {}): Promise<EndpointProcess> {
  const endpoint = await startEndpoint({
    script: 'test/fixtures/processes/crash-server.ts',
    env: { ...database.env, CRASH_EFFECTS: join(folder, 'effects'), ...env },
    permissions: database.permissions,
    reaches: database.reaches,
  });
  started.push(endpoint);
  return endpoint;
}

/** Asks for a run by a key that names it: again, anywhere, it is the same run. Waits while another process seems to have it. */
async function ask(endpoint: EndpointProcess, name: string): Promise<Response> {
  let response = await post(endpoint, name);
  while (response.status === 409) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    response = await post(endpoint, name);
  }
  return response;
}

async function post({ url, token }: EndpointProcess, name: string): Promise<Response> {
  const text = name.startsWith('append') ? `append ${name}` : 'words 300';
  return await fetch(`${url}/v1/runs`, {
    method: 'POST',
    body: JSON.stringify(runRequest({ chat: { id: name, messages: [userMessage(text)] } })),
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"the-key-of-${name}"`,
    },
  });
}

/** A run as its client sees it: its first bytes, and all that comes until its end or the end of its process. */
interface Watched {
  readonly name: string;
  readonly begun: Promise<void>;
  readonly whole: Promise<string>;
}

function watch(endpoint: EndpointProcess, name: string): Watched {
  const begun = Promise.withResolvers<void>();
  const read = async (): Promise<string> => {
    const decoder = new TextDecoder();
    let text = '';
    try {
      const response = await ask(endpoint, name);
      for await (const bytes of response.body ?? []) {
        text += decoder.decode(bytes, { stream: true });
        begun.resolve();
      }
    } catch {
      // Its process was killed: what came until then is what the client has.
    }
    begun.resolve();
    return text;
  };
  return { name, begun: begun.promise, whole: read() };
}

const isWhole = (text: string): boolean => text.endsWith('data: [DONE]\n\n');

const crowds: readonly (readonly [count: number, kind: DatabaseKind])[] = [
  [4, 'Deno KV'],
  [8, 'Deno KV'],
  [2, 'PostgreSQL'],
  [4, 'PostgreSQL'],
];

describe.each(share(crowds.filter(([, kind]) => isInstalled(kind)), 2))('%i processes on one %s', (count, kind) => {
  beforeEach(() => open(kind));
  afterEach(close);

  it('end every run once, with each effect at most once, when half of them are killed at work', async () => {
    const all = await Promise.all(Array.from({ length: count }, () => start()));
    const runs = all.flatMap((endpoint, at) =>
      [`words-${at}`, `append-${at}-a`, `append-${at}-b`].map((name) => ({ at, ...watch(endpoint, name) }))
    );
    await Promise.all(runs.map(({ begun }) => begun));
    await Promise.all(all.filter((_, at) => at % 2 === 1).map((endpoint) => endpoint.stop('SIGKILL')));
    const seen = await Promise.all(runs.map(async ({ name, at, whole }) => ({ name, at, text: await whole })));
    const living = seen.filter(({ at }) => at % 2 === 0);
    expect(living.filter(({ text }) => !text.includes('"type":"finish"') || !isWhole(text))).toEqual([]);

    const late = await start();
    const told = await Promise.all(
      seen.map(async (run) => ({ ...run, again: await (await ask(late, run.name)).text() })),
    );
    for (const { name, text, again } of told) {
      expect(isWhole(again), name).toBe(true);
      expect(again.match(/"type":"(?:finish|error|abort)"/g), name).toHaveLength(1);
      expect(again.startsWith(text), name).toBe(true);
    }
    const killed = told.filter(({ at, name }) => at % 2 === 1 && name.startsWith('words'));
    expect(killed.filter(({ again }) => again.includes('"type":"data-recovery"'))).not.toEqual([]);
    expect(told.filter(({ again }) => again.includes('"type":"error"'))).toEqual([]);
    const effects = (await readFile(join(folder, 'effects'), 'utf8')).split('\n').filter((line) => line !== '');
    expect(effects).toHaveLength(new Set(effects).size);
  });
});

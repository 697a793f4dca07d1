import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  createEventRing,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  PinnaceError,
  type Storage,
} from '../../../src/index.ts';
import { readSummary } from '../../../src/events/payload-summary.ts';
import { createPrincipal } from '../../../src/base/principal.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const weather = defineTool({
  id: 'weather',
  description: 'Reads the weather',
  input: v.looseObject({ city: v.string(), unit: v.optional(v.string()) }),
  annotations: { readOnlyHint: true },
  execute: () => 'sunny',
});

type Given = Partial<Omit<CreateRuntimeOptions, 'models'>> & { readonly tenant?: string };

/** The summary of one call at an instance of its own. */
async function summaryOfCall(input: object, { tenant = 'local', ...options }: Given = {}) {
  const { model } = scriptedModel(callsTools({ tool: 'weather', input, id: 'c1' }), says('ok'));
  const { sink, events } = memorySink();
  const runtime = testRuntime({ model, tools: [weather], sinks: [sink], ...options });
  const principal = createPrincipal({ ...localPrincipal(), tenant, via: 'in-process' });
  await readAll(await runtime.run(runRequest(), principal));
  const call = events.find(({ action, status }) => action === 'tool.call' && status === 'ok');
  return { ...readSummary(call!.payloadSummary), text: JSON.stringify(events) } as Record<string, string | number>;
}

function withoutKey(): Storage & { reads: number } {
  const inner = memoryStorage();
  return {
    ...inner,
    reads: 0,
    get(key) {
      if (key[0] !== 'input-digest-key') return inner.get(key);
      this.reads++;
      return Promise.reject(new PinnaceError('unavailable', 'Away'));
    },
  };
}

describe('the summary of a tool input in events', () => {
  it('computes one digest when several instances create the key at once', async () => {
    const storage = memoryStorage();
    const all = await Promise.all([1, 2, 3].map(() => summaryOfCall({ city: 'Oslo' }, { storage })));
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(1);
  });

  it('computes other digests for other deployments and tenants', async () => {
    const storage = memoryStorage();
    const here = await summaryOfCall({ city: 'Oslo' }, { storage });
    const there = await summaryOfCall({ city: 'Oslo' });
    const tenant = await summaryOfCall({ city: 'Oslo' }, { storage, tenant: 'acme' });
    expect(new Set([here['digest'], there['digest'], tenant['digest']]).size).toBe(3);
  });

  it('takes the key of the composition and then stores none', async () => {
    const inputDigestKey = new Uint8Array(32).fill(7);
    const storage = memoryStorage();
    const here = await summaryOfCall({ city: 'Oslo' }, { storage, inputDigestKey });
    const there = await summaryOfCall({ city: 'Oslo' }, { inputDigestKey });
    expect(there['digest']).toBe(here['digest']);
    expect(await storage.get(['input-digest-key'])).toBeUndefined();
  });

  it('rejects a key of the composition that could be guessed', () => {
    const inputDigestKey = new Uint8Array(8);
    expect(() => testRuntime({ model: scriptedModel().model, inputDigestKey })).toThrowError(
      expect.objectContaining({
        code: 'invalid_argument',
        details: expect.objectContaining({ reason: 'digest_key_length' }),
      }),
    );
  });

  it('waits for the key once per instance, and goes on without digests where it cannot be read', async () => {
    const storage = withoutKey();
    const call = (id: string) => callsTools({ tool: 'weather', input: { city: 'Oslo' }, id });
    const { sink, events } = memorySink();
    const { model } = scriptedModel(call('c1'), call('c2'), says('ok'));
    await readAll(
      await testRuntime({ model, tools: [weather], sinks: [sink], storage }).run(runRequest(), localPrincipal()),
    );
    const ends = events.filter(({ action, status }) => action === 'tool.call' && status === 'ok');
    expect(ends.map(({ payloadSummary }) => readSummary(payloadSummary))).toEqual([
      { toolCallId: 'c1', input: 15, keys: 'city', output: 7 },
      { toolCallId: 'c2', input: 15, keys: 'city', output: 7 },
    ]);
    expect(storage.reads).toBe(2); // the second is not waited for
  });

  it('reads the key once for all calls of an instance, and never where events have no reader', async () => {
    const inner = memoryStorage();
    let reads = 0;
    const storage: Storage = {
      ...inner,
      get: (key) => (reads += Number(key[0] === 'input-digest-key'), inner.get(key)),
    };
    const call = (id: string) => callsTools({ tool: 'weather', input: { city: 'Oslo' }, id });
    const run = async (options: Given) => {
      const { model } = scriptedModel(call('c1'), call('c2'), says('ok'));
      await readAll(
        await testRuntime({ model, tools: [weather], storage, ...options }).run(runRequest(), localPrincipal()),
      );
    };
    await run({ ring: createEventRing({ capacity: 0 }) });
    expect(reads).toBe(0);
    await run({});
    expect(reads).toBe(1);
  });
});

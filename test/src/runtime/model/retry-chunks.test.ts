import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localPrincipal, type UIMessageChunk } from '../../../../src/index.ts';
import { preload } from '../../../../src/simulation/preload.ts';
import { type VirtualTime, virtualTime } from '../../../../src/simulation/virtual-time.ts';
import { says } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest } from '../../../fixtures/runtime.ts';
import { fallbackRuntime, namedModel, type Script } from '../loop/fallback-runtime.ts';

const me = localPrincipal();

/** Refuses with this pause, in the words that a provider may use. */
const busy = (retryAfter: string, statusCode = 429): Script => () =>
  Promise.reject(Object.assign(new Error('key sk-SECRET-0123456789 is over its quota'), {
    name: 'AI_APICallError',
    statusCode,
    isRetryable: true,
    responseHeaders: { 'retry-after': retryAfter },
    responseBody: '{"error":{"message":"Rate limit reached for sk-SECRET-0123456789"}}',
  }));

const retriesIn = (chunks: readonly UIMessageChunk[]) => chunks.filter(({ type }) => type === 'data-retry');

const runIdOf = (chunks: readonly UIMessageChunk[]) => String(lastData(chunks, 'data-run')['runId']);

let time: VirtualTime; // waits for digests, which other threads compute

/** Lets time pass by milliseconds until it is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await time.pass(1);
}

/** Lets time pass until the work is done. */
async function passAll(work: Promise<unknown>): Promise<void> {
  expect(await time.passUntil(work, 120_000)).toBe(true);
  await work;
}

describe('data-retry', () => {
  beforeAll(async () => {
    await preload(); // real imports take no virtual time
    await readAll(await fallbackRuntime({ one: namedModel('first', says('Hi')) }).run(runRequest(), me));
  });
  beforeEach(() => void (time = virtualTime()));
  afterEach(() => time.close());

  /** Starts a run whose first model is busy twice, and reads it. */
  function start(...scripts: readonly Script[]) {
    const first = namedModel('first', ...scripts);
    const runtime = fallbackRuntime({ one: first, two: namedModel('second', says('I take over')) }, {
      limits: { detachGraceMs: 60_000 },
    });
    const seen: { readonly at: number; readonly chunk: UIMessageChunk }[] = [];
    const reading = (async () => {
      for await (const chunk of await runtime.run(runRequest(), me)) seen.push({ at: Date.now(), chunk });
    })();
    return { runtime, first, seen, reading, chunks: () => seen.map(({ chunk }) => chunk) };
  }

  it('says nothing that the provider wrote', async () => {
    const { seen, reading, chunks } = start(busy('1'), busy('1'), busy('1'));
    await passAll(reading);
    expect(retriesIn(chunks())).toHaveLength(3);
    expect(JSON.stringify(seen)).not.toMatch(/SECRET|quota|Rate limit/);
  });

  it('is the last chunk before the end of a run that is stopped while it waits', async () => {
    const { runtime, reading, first, chunks } = start(busy('30'), says('Here'));
    await until(() => retriesIn(chunks()).length === 1);
    await runtime.cancel(runIdOf(chunks()), me);
    await passAll(reading);
    expect(chunks().map(({ type }) => type).slice(-4)).toEqual(['data-retry', 'data-usage', 'data-run', 'abort']);
    expect(first.calls).toHaveLength(1);
  });
});

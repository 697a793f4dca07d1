/** Requests of every kind that come and go at an endpoint in this process, to see that nothing of them stays. */

import { memoryStorage } from '../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../adapters/transport/http.ts';
import { defineTool, type LanguageModel, type Limits } from '../../src/index.ts';
import { callsTools, says } from '../fixtures/model.ts';
import { testRuntime } from '../fixtures/runtime.ts';
import * as v from 'valibot';

const token = 'a-token-for-tests-only';
const words = 12;

/** Kinds of requests: a run read to its end, left, canceled, sent twice, or with a tool call; an unknown caller; an invalid request. */
export const kinds = ['whole', 'left', 'cancelled', 'twice', 'tool', 'stranger', 'nonsense'] as const;

export interface Churn {
  /** Sends a request of this kind, and returns its outcome when the caller is done with it. */
  readonly one: (kind: (typeof kinds)[number]) => Promise<string>;
  readonly open: () => number;
  /** Resolves when no run is open. */
  readonly settled: () => Promise<void>;
  /** Removes what has expired, which a storage in memory does by itself only when it holds as much again. */
  readonly purge: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts an endpoint whose runs pause between parts, and that stores ended runs as the limits say. */
export function createChurn(
  { everyMs = 0, limits }: { readonly everyMs?: number; readonly limits?: Partial<Limits> } = {},
): Churn {
  const add = defineTool({
    id: 'add',
    description: 'Adds',
    input: v.object({ a: v.number() }),
    annotations: { readOnlyHint: true },
    execute: ({ a }) => a + 1,
  });
  const storage = memoryStorage();
  const runtime = testRuntime({
    model: speaker(everyMs),
    storage,
    tools: [add],
    limits: { detachGraceMs: 50, ...limits },
  });
  const handler = createHandler(runtime, {
    authenticator: developmentAuthenticator({ token }),
    quotas: { runs: 5_000, runsPerTenant: 5_000 },
  });
  const send = async (path: string, init: RequestInit): Promise<Response> =>
    await handler(new Request(`http://127.0.0.1${path}`, init));
  return {
    one: async (kind) => await callers[kind](send, limits?.retentionMs ?? Infinity),
    open: () => runtime.runs.open,
    settled: () => runtime.runs.drained(),
    purge: async () => void await storage.list({ prefix: [], limit: 1_000 }),
    async close() {
      await runtime.close();
      await storage.close();
    },
  };
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

const callers: Readonly<Record<(typeof kinds)[number], (send: Send, retentionMs: number) => Promise<string>>> = {
  whole: async (send) => endOf(await (await send('/v1/runs', run('talk'))).text()),
  tool: async (send) => endOf(await (await send('/v1/runs', run('use the tool'))).text()),
  async left(send) {
    const reader = (await send('/v1/runs', run('talk'))).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return 'left';
  },
  async cancelled(send) {
    const response = await send('/v1/runs', run('talk'));
    const cancel = await send(`/v1/runs/${response.headers.get('x-run-id')}`, { method: 'DELETE', headers: known() });
    const end = endOf(await response.text());
    return cancel.status === 202 && ['abort', 'finish'].includes(end) ? 'cancelled' : `${cancel.status} ${end}`;
  },
  async twice(send, retentionMs) {
    const request = run('talk');
    const answer = await send('/v1/runs', request);
    const sentAt = performance.now(); // its retention starts later, with its end
    const first = await answer.text();
    const again = await (await send('/v1/runs', request)).text();
    if (first === again || performance.now() - sentAt > retentionMs) return endOf(again);
    return 'another answer';
  },
  stranger: async (send) => String((await send('/v1/runs', { ...run('talk'), headers: {} })).status),
  nonsense: async (send) => String((await send('/v1/runs', { ...run('talk'), body: '{"agentId":' })).status),
};

function known(): Record<string, string> {
  return { 'authorization': `Bearer ${token}` };
}

function run(text: string): RequestInit {
  return {
    method: 'POST',
    headers: { ...known(), 'content-type': 'application/json', 'idempotency-key': `"${crypto.randomUUID()}"` },
    body: JSON.stringify({
      agentId: 'helper',
      chat: { id: crypto.randomUUID(), messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }] },
    }),
  };
}

function endOf(stream: string): string {
  return /"type":"(finish|abort|error)"[^\n]*\n+(?:data: \[DONE\]\n+)?$/.exec(stream)?.[1] ?? 'no end';
}

function speaker(everyMs: number): LanguageModel {
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'speaker',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream({ prompt }) {
      const wantsTool = prompt.at(-1)?.role === 'user' && JSON.stringify(prompt.at(-1)).includes('use the tool');
      const parts = wantsTool
        ? callsTools({ tool: 'add', input: { a: 1 }, id: 'c1' })
        : says(...Array.from({ length: words }, (_, at) => `word ${at} `));
      const stream = new ReadableStream({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, everyMs));
          const part = parts.shift();
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
      }, { highWaterMark: 0 });
      return Promise.resolve({ stream });
    },
  };
}

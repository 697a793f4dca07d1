import fc from 'fast-check';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../adapters/transport/authenticator.ts';
import { authenticateByScheme } from '../../adapters/transport/by-scheme.ts';
import { developmentAuthenticator } from '../../adapters/transport/development-authenticator.ts';
import { createHandler, type Handler } from '../../adapters/transport/http.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { createPrincipal, type LanguageModel } from '../../src/index.ts';
import { scopes } from '../../src/base/principal.ts';
import { createHostileRequests } from '../fixtures/hostile/hostile.ts';
import { says, streamOf } from '../fixtures/model.ts';
import { runRequest, testRuntime } from '../fixtures/runtime.ts';
import { slowness, threadMs } from '../tools/thread-time.ts';
import { budget, runs } from '../fixtures/budget.ts';
import { failedSeeds } from '../fixtures/failed-seeds.ts';

const total = budget({ short: 3_000, long: 100_000 });
/** So many at a time meet in the handler. */
const atOnce = 20;
/** Then a fresh endpoint takes over, so that the runs on record do not fill the memory. */
const perEndpoint = Math.min(total, 5_000);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const token = 'a-token-for-tests-only';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.off('unhandledRejection', note));

/** Keeps nothing of its calls, of which there are many. */
const model: LanguageModel = {
  specificationVersion: 'v4',
  provider: 'test',
  modelId: 'short',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('not used')),
  doStream: () => Promise.resolve({ stream: streamOf(says('ok')) }),
};

interface Endpoint {
  readonly handle: Handler;
  readonly runIds: readonly string[];
  /** Streams that still have a reader, or that were left open. */
  openStreams(): number;
  close(): Promise<void>;
}

async function createEndpoint(): Promise<Endpoint> {
  const storage = memoryStorage();
  const runtime = testRuntime({ model, storage });
  const authenticator = authenticateByScheme({
    'GC-Session': createAuthenticator({ issuers: [], audience: 'fuzz', authorities: ['127.0.0.1'], storage }),
    'Bearer': { authenticate: authenticateQuickly },
  });
  const quotas = { runs: Infinity, runsPerTenant: Infinity };
  const handle = createHandler(runtime, { authenticator, quotas, origins: ['https://friend.example'] });
  const response = await handle(post(JSON.stringify(runRequest())));
  await response.text();
  const count = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(runtime.metrics.text())?.[1]);
  return {
    handle,
    runIds: [response.headers.get('x-run-id') ?? ''],
    openStreams: () => count('pinnace_streams_opened_total') - count('pinnace_streams_closed_total'),
    close: () => runtime.close(),
  };
}

const developer = developmentAuthenticator({ token });
const principal = createPrincipal({ via: 'http', tenant: 'fuzz', subject: 's', agents: '*', scopes });

/** The right token is let in as it is: to compare digests would take most of the time. */
function authenticateQuickly(request: Request) {
  if (request.headers.get('authorization') === `Bearer ${token}`) return Promise.resolve(principal);
  return developer.authenticate(request);
}

function post(body: BodyInit, headers: Record<string, string> = {}): Request {
  return new Request('http://127.0.0.1/v1/runs', {
    method: 'POST',
    body,
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
      ...headers,
    },
  });
}

/** Serves the request and returns what is wrong with the answer; `undefined` for a correct one. */
async function faultOf(handle: Handler, request: Request, canary?: string): Promise<string | undefined> {
  const response = await handle(request).catch((error: unknown) => `the handler throws ${String(error)}`);
  if (typeof response === 'string') return response;
  const { status, headers } = response;
  if (status < 400 && headers.get('content-type') === 'text/event-stream') return await faultOfStream(response);
  const text = await response.text();
  if (status >= 500) return `${status} ${text}`;
  if (status < 400) return undefined;
  if (request.method !== 'HEAD' && !isProblem(text, response)) return `${status} with the malformed problem ${text}`;
  const said = [text, ...[...headers].flat()].join('\n');
  return canary !== undefined && said.includes(canary) ? `${status} repeats what it got: ${said}` : undefined;
}

/** Reads a stream to its end, or of one in sixteen nothing. */
async function faultOfStream(response: Response): Promise<string | undefined> {
  if (response.body === null) return undefined; // HEAD
  if (response.headers.get('x-run-id')?.endsWith('0')) {
    await response.body.cancel();
    return undefined;
  }
  const text = await response.text();
  return text.endsWith('data: [DONE]\n\n') ? undefined : `a stream that ends in ${text.slice(-100)}`;
}

const texts = ['type', 'title', 'code', 'detail', 'serverTime', 'traceId'];

function isProblem(text: string, { status, headers }: Response): boolean {
  const problem = JSON.parse(text) as Record<string, unknown>;
  const { code, type, traceId, details } = problem;
  const paths = [(details as { issues?: readonly { path: string }[] } | undefined)?.issues ?? []].flat();
  return headers.get('content-type') === 'application/problem+json' && headers.get('cache-control') === 'no-store' &&
    problem['status'] === status && type === `urn:pinnace:problem:${String(code)}` &&
    texts.every((name) => typeof problem[name] === 'string' && problem[name] !== '') &&
    /^[0-9a-f]{32}$/.test(String(traceId)) && !('stack' in problem) && !('cause' in problem) &&
    paths.every(({ path }) => /^[\w.$?-]*$/.test(path)); // a key of the body, made harmless
}

/** Watches the event loop. A stall counts for the time that this thread worked: what others take of the machine is not ours. */
function watchLoop(): { readonly longestMs: () => number; readonly stop: () => void } {
  let [longest, at, worked] = [0, performance.now(), threadMs()];
  const timer = setInterval(() => {
    longest = Math.max(longest, Math.min(performance.now() - at, threadMs() - worked));
    [at, worked] = [performance.now(), threadMs()];
  }, 5);
  return { longestMs: () => longest, stop: () => clearInterval(timer) };
}

/** Sends a part of all requests to a new endpoint, and returns the first fault. */
async function faultOfPart(partSeed: number): Promise<string | undefined> {
  const endpoint = await createEndpoint();
  const next = createHostileRequests({ seed: partSeed, token, runIds: endpoint.runIds });
  try {
    for (let done = 0; done < perEndpoint; done += atOnce) {
      const faults = await Promise.all(Array.from({ length: atOnce }, async () => {
        const { request, canary } = next();
        const shown = `${request.method} ${request.url} ${JSON.stringify([...request.headers])}`.slice(0, 1000);
        const fault = await faultOf(endpoint.handle, request, canary);
        return fault && `${shown}: ${fault}`;
      }));
      const fault = faults.find((found) => found !== undefined);
      if (fault !== undefined) return fault;
      await new Promise((resolve) => setTimeout(resolve, 0)); // lets the loop turn, and the watch see it
    }
    return endpoint.openStreams() === 0 ? undefined : `${endpoint.openStreams()} streams are left behind`;
  } finally {
    await endpoint.close();
  }
}

describe('the endpoint under hostile requests', () => {
  it('answers all of them, none with a 5xx, a stall or what it got', { timeout: 900_000 }, async () => {
    const stallMs = 200 * slowness();
    const loop = watchLoop();
    const startedAt = performance.now();
    const partSeeds = Array.from({ length: total / perEndpoint }, (_, part) => seed + part * perEndpoint);
    for (const partSeed of [...failedSeeds.fuzz, ...partSeeds]) {
      const fault = await faultOfPart(partSeed);
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      const where = `FUZZ_SEED=${partSeed}, within ${perEndpoint} requests, ${seconds} s`;
      expect(fault, where).toBeUndefined();
      expect(loop.longestMs(), where).toBeLessThan(stallMs);
    }
    loop.stop();
    expect(unhandled, `FUZZ_SEED=${seed}`).toEqual([]);
  });

  it('answers whatever JSON, text and bytes there are', async () => {
    const endpoint = await createEndpoint();
    const string = fc.string({ unit: 'binary', maxLength: 60 });
    const part = fc.dictionary(
      fc.constantFrom('type', 'text', 'url', 'state', 'input', 'data', 'mediaType'),
      fc.jsonValue(),
    );
    const message = fc.record({
      id: string,
      role: fc.constantFrom('user', 'assistant'),
      parts: fc.array(part.map((fields) => ({ type: 'text', text: 'x', ...fields })), { minLength: 1, maxLength: 3 }),
    });
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ agentId: fc.constant('helper'), chat: fc.record({ id: string, messages: fc.array(message) }) }),
    );
    const bytes = fc.uint8Array({ maxLength: 200 });
    const sent = fc.oneof(body.map((data) => JSON.stringify(data)), fc.json({ maxDepth: 80 }), string, bytes);
    await fc.assert(
      fc.asyncProperty(sent, async (data) => {
        expect(await faultOf(endpoint.handle, post(data as BodyInit))).toBeUndefined();
      }),
      { numRuns: runs(3_000) },
    );
    await endpoint.close();
  });
});

/** What a signed run costs the instance that executes it: CPU, and the storage calls that it waits for. */

import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createRuntime, type LanguageModel, type Storage } from '../../../src/index.ts';
import { says } from '../../fixtures/model.ts';
import { authority, createSigner, type Signer } from '../endpoint/signer.ts';
import { cpuMs } from '../measure.ts';
import type { RunCost } from './model.ts';

/** An answer of 300 tokens at 30 a second. */
const [chunks, everyMs] = [300, 33];
const atOnce = 100;

interface Endpoint {
  readonly signer: Signer;
  readonly handle: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** A storage that counts, and that answers after this time. */
interface Counted {
  readonly storage: Storage;
  readonly counts: { commits: number; changes: number; bytes: number; reads: number };
}

function counted(latencyMs: number): Counted {
  const storage = memoryStorage();
  const counts = { commits: 0, changes: 0, bytes: 0, reads: 0 };
  const later = () => latencyMs === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, latencyMs));
  return {
    counts,
    storage: {
      async get(key) {
        counts.reads += 1;
        await later();
        return await storage.get(key);
      },
      async list(options) {
        counts.reads += 1;
        await later();
        return await storage.list(options);
      },
      async commit(changes) {
        counts.commits += 1;
        counts.changes += changes.length;
        counts.bytes += JSON.stringify(changes).length;
        await later();
        return await storage.commit(changes);
      },
    },
  };
}

async function createEndpoint(storage: Storage, model: LanguageModel, commitSpacingMs: number): Promise<Endpoint> {
  const signer = await createSigner();
  const catalog = staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'p' }],
    providers: [{ id: 'p', kind: 'custom' }],
  });
  const runtime = createRuntime({ catalog, models: { model: () => model }, storage, limits: { commitSpacingMs } });
  const authenticator = createAuthenticator({
    issuers: [signer.trusted],
    audience: 'bench',
    authorities: [authority],
    storage,
  });
  const handle = createHandler(runtime, { authenticator, quotas: { runs: 2_000, runsPerTenant: 2_000 } });
  return { signer, handle: async (request) => await handle(request), close: () => runtime.close() };
}

/** Says so many words, one each pause. */
function speaker(words: number, pauseMs: number): LanguageModel {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'speaker',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: () => {
      const parts = says(...Array.from({ length: words }, () => 'word '));
      return Promise.resolve({
        stream: new ReadableStream({
          async pull(controller) {
            if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
            const part = parts.shift();
            if (part === undefined) controller.close();
            else controller.enqueue(part);
          },
        }, { highWaterMark: 0 }),
      });
    },
  };
}

async function requestOf({ signer }: Endpoint): Promise<Request> {
  const body = JSON.stringify({
    agentId: 'helper',
    chat: { id: crypto.randomUUID(), messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] },
  });
  const { path, ...init } = await signer.sign({ method: 'POST', path: '/v1/runs', body });
  return new Request(`http://${authority}${path}`, init);
}

/** CPU and commits a run, of a hundred at once that speak as people read. */
async function measureLoad(commitSpacingMs: number) {
  const { storage, counts } = counted(0);
  const endpoint = await createEndpoint(storage, speaker(chunks, everyMs), commitSpacingMs);
  const requests = await Promise.all(Array.from({ length: atOnce }, () => requestOf(endpoint)));
  const before = cpuMs();
  await Promise.all(requests.map(async (request) => {
    const response = await endpoint.handle(request);
    if (response.status !== 200) throw new Error(`A run was answered with ${response.status}`);
    await response.text();
  }));
  const { commits, changes, bytes } = counts;
  await endpoint.close();
  return {
    cpu: (cpuMs() - before) / atOnce,
    commits: commits / atOnce,
    changes: changes / commits,
    bytes: bytes / commits,
  };
}

/** CPU of a run that says one word: what it takes before it streams. */
async function measureStart(): Promise<number> {
  const endpoint = await createEndpoint(memoryStorage(), speaker(1, 0), 20);
  const rounds: number[] = [];
  for (let round = 0; round < 5; round++) {
    const requests = await Promise.all(Array.from({ length: atOnce }, () => requestOf(endpoint)));
    const before = cpuMs();
    for (const request of requests) await (await endpoint.handle(request)).text();
    rounds.push((cpuMs() - before) / atOnce);
  }
  await endpoint.close();
  return Math.min(...rounds);
}

/** How many storage calls come one after the other before the first byte: the time that a slow storage adds, in its own. */
async function measureDepth(): Promise<number> {
  const latencyMs = 100;
  const firstByte = async (latency: number): Promise<number> => {
    const endpoint = await createEndpoint(counted(latency).storage, speaker(1, 0), 20);
    await (await endpoint.handle(await requestOf(endpoint))).text(); // the caches are warm as they are under load
    const request = await requestOf(endpoint);
    const startedAt = performance.now();
    const reader = (await endpoint.handle(request)).body?.getReader();
    await reader?.read();
    const elapsed = performance.now() - startedAt;
    await reader?.cancel();
    await endpoint.close();
    return elapsed;
  };
  const fast = Math.min(await firstByte(0), await firstByte(0));
  return Math.round((Math.min(await firstByte(latencyMs), await firstByte(latencyMs)) - fast) / latencyMs);
}

/** Measures one run, whose commits are spaced so. */
export async function measureRun(commitSpacingMs: number): Promise<RunCost> {
  const [startCpuMs, depth] = [await measureStart(), await measureDepth()];
  const { cpu, commits, changes, bytes } = await measureLoad(commitSpacingMs);
  const startReads = 0; // on a warm instance every call before the first byte that waits is a commit
  const startCommits = Math.max(0, depth - startReads);
  return {
    startCpuMs,
    streamCpuMs: Math.max(0, cpu - startCpuMs),
    startReads,
    startCommits,
    streamCommits: Math.max(1, Math.round(commits - startCommits)),
    changes,
    bytes,
    answerMs: chunks * everyMs,
  };
}

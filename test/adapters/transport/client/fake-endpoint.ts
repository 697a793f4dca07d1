/** An endpoint in process that keeps the HTTP contract, with the real authenticator, and fails on request. */

import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createAuthenticator, type SignedAuthenticator } from '../../../../adapters/transport/authenticator.ts';
import { type CertificateIssuer, createIssuer } from '../../../../adapters/transport/issuer.ts';
import { type SessionCredential } from '../../../../adapters/transport/signed/caller.ts';
import { parseIdempotencyKey } from '../../../../adapters/transport/signed/caller.ts';
import { challengeHeaders } from '../../../../adapters/transport/signed/profile.ts';
import { PinnaceError, toProblem, type UIMessageChunk } from '../../../../src/index.ts';

/** What goes wrong with one request. */
export type Fault =
  /** Nothing. */
  | { readonly type: 'none' }
  /** No answer at all. */
  | { readonly type: 'network' }
  | { readonly type: 'refuse'; readonly error: PinnaceError; readonly retryAfter?: string }
  /** A refusal by a proxy, which knows nothing of problems. */
  | { readonly type: 'proxy'; readonly status: number }
  /** The stream ends after so many events; inside the next one when `inside`, with an error when `broken`. */
  | { readonly type: 'cut'; readonly after: number; readonly inside?: boolean; readonly broken?: boolean }
  /** The stream says nothing more after so many events. */
  | { readonly type: 'silence'; readonly after: number }
  /** The stream begins so many events before what was asked for. */
  | { readonly type: 'again'; readonly events: number }
  /** The stream leaves out the event at this place. */
  | { readonly type: 'gap'; readonly at: number };

interface Run {
  readonly id: string;
  readonly fingerprint: string;
  chunks: readonly UIMessageChunk[];
  /** How many more times it is found running when its key comes again. */
  joins: number;
}

export interface FakeEndpoint {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly requests: Request[];
  readonly credential: SessionCredential;
  readonly issuer: CertificateIssuer;
  readonly authenticator: SignedAuthenticator;
  readonly cancelled: string[];
  readonly bodies: unknown[];
  /** How often a run was started. */
  executions(): number;
  /** Readers that were let go of. */
  released(): number;
  /** The next requests fail so, one after the other. */
  plan(...faults: readonly Fault[]): void;
  /** What to do with the pending silence when a stream falls silent. */
  onSilence(listener: () => void): void;
}

export const url = 'https://worker.example';

/** A run of so many chunks. */
export function chunksOf(count: number): UIMessageChunk[] {
  const deltas = Array.from(
    { length: Math.max(0, count - 2) },
    (_, i): UIMessageChunk => ({ type: 'text-delta', id: 't', delta: `${i} ✓` }),
  );
  return [{ type: 'start', messageId: 'm' }, ...deltas, { type: 'finish' }];
}

export async function createFakeEndpoint(
  {
    chunks = chunksOf(6),
    joins = 0,
    skewMs = 0,
    now = () => 1_800_000_000_000,
    numbered = true,
    headers: named = true,
  }: {
    chunks?: readonly UIMessageChunk[];
    joins?: number;
    /** How far the endpoint's clock is ahead. */
    skewMs?: number;
    now?: () => number;
    numbered?: boolean;
    headers?: boolean;
  } = {},
): Promise<FakeEndpoint> {
  const serverNow = () => now() + skewMs;
  const issuer = await createIssuer({ iss: 'https://gc.example', audience: 'test', now: serverNow });
  const authenticator = createAuthenticator({
    issuers: [issuer.trusted],
    audience: 'test',
    authorities: ['worker.example'],
    storage: memoryStorage(),
    now: serverNow,
  });
  const credential = await issuer.issue({
    sub: 's',
    tenant: 't',
    agents: '*',
    scopes: ['run:create', 'run:read', 'run:cancel'],
  });
  const runs = new Map<string, Run>();
  const requests: Request[] = [];
  const bodies: unknown[] = [];
  const cancelled: string[] = [];
  let faults: Fault[] = [];
  let released = 0;
  let silent: (() => void) | undefined;

  async function start(request: Request): Promise<Run> {
    const key = parseIdempotencyKey(request.headers.get('idempotency-key'));
    const fingerprint = await request.clone().text();
    const known = runs.get(key);
    if (known === undefined) {
      const run = { id: `run_${runs.size + 1}`, fingerprint, chunks, joins };
      runs.set(key, run);
      return run;
    }
    if (known.fingerprint !== fingerprint) {
      throw new PinnaceError('idempotency_key_reused', 'Another body', { status: 422 });
    }
    if (known.joins-- > 0) {
      throw new PinnaceError('run_in_progress', 'It runs', {
        status: 409,
        retryAfterMs: 1000,
        details: { runId: known.id },
      });
    }
    return known;
  }

  function find(id: string | undefined): Run {
    const run = [...runs.values()].find((each) => each.id === id);
    if (run === undefined) throw new PinnaceError('not_found', 'No such run');
    return run;
  }

  async function serve(request: Request, fault: Fault): Promise<Response> {
    await authenticator.authenticate(request);
    if (fault.type === 'refuse') throw fault.error;
    const { pathname } = new URL(request.url);
    const [, kind, id, rest] = /^\/v1\/(runs|chats)(?:\/([^/]+))?(?:\/(.+))?$/.exec(pathname) ?? [];
    if (request.method === 'POST' && kind === 'runs' && id === undefined) return stream(await start(request), 0, fault);
    if (kind === 'chats') {
      return runs.size === 0 ? new Response(null, { status: 204 }) : stream(find('run_1'), 0, fault);
    }
    if (request.method === 'GET' && rest === 'stream') {
      const run = find(id);
      const after = Number(request.headers.get('last-event-id')?.split(':')[1] ?? 0);
      return after >= run.chunks.length ? new Response(null, { status: 204 }) : stream(run, after, fault);
    }
    if (request.method === 'DELETE') {
      cancelled.push(find(id).id);
      return new Response(null, { status: 202 });
    }
    if (request.method === 'POST') {
      bodies.push(await request.clone().json());
      return new Response(null, { status: 204 });
    }
    return Response.json({ state: 'completed', runId: find(id).id });
  }

  function stream(run: Run, after: number, fault: Fault): Response {
    const first = Math.max(0, after - (fault.type === 'again' ? fault.events : 0));
    const events = run.chunks.slice(first)
      .map((chunk, i) => `${numbered ? `id: ${run.id}:${first + i + 1}\n` : ''}data: ${JSON.stringify(chunk)}\n\n`)
      .filter((_event, i) => fault.type !== 'gap' || i !== fault.at);
    events.push('data: [DONE]\n\n');
    const headers = {
      'content-type': 'text/event-stream',
      ...(named && { 'x-run-id': run.id, location: `/v1/runs/${run.id}/stream` }),
    };
    return new Response(bytesOf(events, fault, { onSilence: () => silent?.(), onRelease: () => released++ }), {
      headers,
    });
  }

  return {
    async fetch(request) {
      requests.push(request.clone());
      request.signal.throwIfAborted();
      const fault = faults.shift() ?? { type: 'none' };
      if (fault.type === 'network') throw new TypeError('Failed to fetch');
      if (fault.type === 'proxy') {
        return new Response('<html>', { status: fault.status, headers: { 'content-type': 'text/html' } });
      }
      try {
        return await serve(request, fault);
      } catch (error) {
        return problem(error as PinnaceError, {
          now: serverNow(),
          retryAfter: fault.type === 'refuse' ? fault.retryAfter : undefined,
        });
      }
    },
    requests,
    credential,
    issuer,
    authenticator,
    cancelled,
    bodies,
    executions: () => runs.size,
    released: () => released,
    plan: (...next) => void (faults = [...next]),
    onSilence: (listener) => void (silent = listener),
  };
}

function problem(error: PinnaceError, { now, retryAfter }: { now: number; retryAfter?: string | undefined }): Response {
  const { location, runId } = (error.details ?? {}) as { location?: string; runId?: string };
  const joinAt = location ?? (runId === undefined ? undefined : `/v1/runs/${runId}/stream`);
  return new Response(JSON.stringify(toProblem(error, { traceId: '0'.repeat(32), now })), {
    status: error.status,
    headers: {
      'content-type': 'application/problem+json',
      ...challengeHeaders(error, now),
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
      ...(joinAt !== undefined && { location: joinAt }),
    },
  });
}

/** The events as bytes, in pieces that mind neither events nor characters, up to the fault. */
function bytesOf(
  events: readonly string[],
  fault: Fault,
  { onSilence, onRelease }: { onSilence: () => void; onRelease: () => void },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const ends = fault.type === 'cut' || fault.type === 'silence';
  const half = fault.type === 'cut' && fault.inside ? events[fault.after]?.slice(0, -3) ?? '' : '';
  const text = `retry: 1000\n\n: keep-alive\n\n${(ends ? events.slice(0, fault.after) : events).join('')}${half}`;
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      if (at < bytes.length) {
        controller.enqueue(bytes.slice(at, at += 37));
      } else if (fault.type === 'silence') {
        setTimeout(onSilence);
        await new Promise(() => {}); // for ever
      } else if (fault.type === 'cut' && fault.broken) {
        controller.error(new TypeError('Connection lost'));
      } else {
        controller.close();
      }
    },
    cancel: onRelease,
  }, { highWaterMark: 0 });
}

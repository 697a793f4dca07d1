/** Calls to etcd over its JSON gateway (etcd 3.4 and later), at one node after the other. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { isRecord } from '../../src/base/is-record.ts';
import { toBase64 } from '../../src/base/base64.ts';
import { invalid } from './changes.ts';
import { storageBlocked, storageFull } from './unavailable.ts';

/** How to reach etcd. */
export interface EtcdClientOptions {
  /** The addresses of its nodes, such as `https://10.0.0.1:2379`. A node that does not answer is left for the next one. */
  readonly endpoints: readonly string[];
  /** A user of etcd, where it asks for one. */
  readonly user?: { readonly name: string; readonly password: string };
  /** Calls the nodes, such as with a certificate of one's own; the platform's `fetch` when absent. */
  readonly fetch?: typeof fetch;
}

export interface EtcdPair {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: string;
}

export interface EtcdAnswer {
  readonly header?: { readonly revision?: string };
  readonly kvs?: readonly EtcdPair[];
  readonly more?: boolean;
  readonly succeeded?: boolean;
  readonly responses?: readonly { readonly response_range?: { readonly kvs?: readonly EtcdPair[] } }[];
  readonly ID?: string;
  readonly token?: string;
}

export interface EtcdNotice {
  readonly created?: boolean;
  readonly canceled?: boolean;
  readonly events?: readonly { readonly kv?: EtcdPair }[];
}

export type EtcdClient = ReturnType<typeof createEtcdClient>;

/** How long a node has for an answer. What was asked may still be done. */
const callMs = 2_500;
const unreached = 'Cannot reach etcd';

/** @throws PinnaceError `invalid_argument` with the reason `invalid_client` without an address, or for one that is none. */
export function createEtcdClient({ endpoints, user, fetch: send = fetch }: EtcdClientOptions) {
  if (user) checkNames('create the storage', user, optional('name', 'password'));
  const nodes = endpoints.map(nodeOf);
  if (nodes.length === 0) {
    throw invalid('invalid_client', 'Cannot open the storage: pass the addresses of etcd as `endpoints`');
  }
  let current = Math.floor(Math.random() * nodes.length);
  let token: Promise<string> | undefined;

  /** Asks the node in use; after a failure the next call asks another. */
  async function ask<T>(path: string, init: RequestInit, read: (response: Response) => Promise<T>): Promise<T> {
    const used = current;
    try {
      return await read(await send(`${nodes[used]}${path}`, { method: 'POST', redirect: 'error', ...init }));
    } catch (cause) {
      const error = explain(cause);
      if (error.code === 'unavailable' && current === used) current = (used + 1) % nodes.length;
      throw error;
    }
  }
  async function headersOf(): Promise<Record<string, string>> {
    if (!user) return {};
    token ??= ask('/v3/auth/authenticate', within({ body: JSON.stringify(user) }), readAnswer).then((answer) =>
      answer.token ?? ''
    );
    token.catch(() => (token = undefined));
    return { authorization: await token };
  }
  /** A token that etcd no longer knows was refused before anything was done: a new one is asked for, once. */
  async function authorized<T>(act: (headers: Record<string, string>) => Promise<T>): Promise<T> {
    try {
      return await act(await headersOf());
    } catch (error) {
      if (!user || !isOldToken(error)) throw error;
      token = undefined;
      return await act(await headersOf());
    }
  }
  return {
    call: (path: string, body: object): Promise<EtcdAnswer> =>
      authorized((headers) => ask(path, within({ headers, body: JSON.stringify(body) }), readAnswer)),
    /** Reads the notices of the keys from `key` up to but without `end` until the signal aborts or the node goes away. */
    watch(
      key: string,
      end: string,
      { signal, onNotice }: { readonly signal: AbortSignal; readonly onNotice: (notice: EtcdNotice) => void },
    ): Promise<void> {
      const body = JSON.stringify({ create_request: { key, range_end: end } });
      // A node that was cut off from the others then ends the watch, instead of staying silent.
      const leader = { 'grpc-metadata-hasleader': 'true' };
      return authorized((headers) =>
        ask(
          '/v3/watch',
          { headers: { ...headers, ...leader }, body, signal },
          (response) => readNotices(response, onNotice),
        )
      );
    },
  };
}

/**
 * Refuses a cluster that would refuse larger commits later: by its own settings etcd takes 128 operations and 1.5 MiB a request.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_client` and what to start etcd with.
 */
export async function requireRoom({ call }: EtcdClient, key: string): Promise<void> {
  const never = { key, target: 'CREATE', result: 'LESS', create_revision: '0' };
  const put = { requestPut: { key, value: toBase64(new Uint8Array(mostValueBytes)) } };
  await call('/v3/kv/txn', { compare: Array.from({ length: mostOperations }, () => never) });
  await call('/v3/kv/txn', { compare: [never], success: [put] });
}

/** A value of 4 MiB with its name; 100 changes with two comparisons each, and the notice. */
const mostValueBytes = 4.1 * 1024 * 1024 | 0;
const mostOperations = 201;

function nodeOf(address: string): string {
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.username === '') return url.origin;
  throw invalid('invalid_client', 'Cannot open the storage: each of `endpoints` is like "https://10.0.0.1:2379"');
}

function within(init: RequestInit): RequestInit {
  return { ...init, signal: AbortSignal.timeout(callMs) };
}

/** An error that etcd answered, with its text and its code of gRPC. */
class EtcdError extends Error {
  override readonly name = 'EtcdError';
}

async function readAnswer(response: Response): Promise<EtcdAnswer> {
  const answer: unknown = await response.json();
  if (!isRecord(answer)) throw new EtcdError(`an answer with status ${response.status} that is no object`);
  if (response.ok) return answer; // safe: every field is looked at before it is used
  const text = answer['message'] ?? answer['error']; // etcd 3.6 writes the first alone
  throw new EtcdError(typeof text === 'string' ? text : `status ${response.status}`);
}

async function readNotices(response: Response, onNotice: (notice: EtcdNotice) => void): Promise<void> {
  if (!response.ok || response.body === null) return void await readAnswer(response);
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const { result, error } = JSON.parse(line) as { readonly result?: EtcdNotice; readonly error?: unknown }; // as etcd writes it
      if (error !== undefined || result?.canceled) throw new EtcdError('the watch was canceled');
      if (result) onNotice(result);
    }
  }
}

function isOldToken(error: unknown): boolean {
  return error instanceof PinnaceError && error.cause instanceof EtcdError &&
    /invalid auth token|user name is empty/.test(error.cause.message);
}

/** The error of a storage for what a call threw. Texts of etcd hold neither keys nor values. */
function explain(cause: unknown): PinnaceError {
  const text = cause instanceof EtcdError ? cause.message : '';
  if (/database space exceeded/.test(text)) {
    return storageFull(
      'Cannot write to etcd: its space is used up; compact and defragment it, or raise --quota-backend-bytes',
      cause,
    );
  }
  if (/too many operations/.test(text)) return tooSmall('--max-txn-ops 256', cause);
  if (/request is too large|larger than max/.test(text)) return tooSmall('--max-request-bytes 8388608', cause);
  if (/authentication failed|permission denied/.test(text)) {
    return storageBlocked('Cannot use etcd: it refuses this user; pass another `user`, or grant it the prefix', {
      retryable: false,
      cause,
    });
  }
  return storageBlocked(`${unreached}: try again`, { cause });
}

function tooSmall(flag: string, cause: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use etcd as it is: start each node with ${flag}`, {
    details: { reason: 'invalid_client' },
    cause,
  });
}

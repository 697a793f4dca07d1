/** Watches a resource in the name of a principal. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { isRecord } from '../../../src/base/is-record.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { ClientRead } from '../../../src/runtime/agent-tools.ts';
import { isResourceUri } from './content.ts';
import type { McpCaller, McpHost, McpResources } from './host.ts';
import type { ServerEventBus } from './sdk-2026.ts';
import { buildServer, resourceRead, type ServerParts } from './server.ts';
import { whenRead } from './answer-early.ts';

export const maxSubscriptions = 100;

export function canWatch({ resources = [] }: McpHost): boolean {
  return resources.some((provider) => provider.watch !== undefined);
}

export function watchOf(uri: string): ClientRead {
  return { ...resourceRead(uri), action: 'mcp.resource.watch', attempt: 'Cannot watch the resource' };
}

interface WatchOptions {
  readonly host: McpHost;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly isOpen?: () => boolean;
  readonly notify: () => Promise<void> | void;
}

/** Starts a watch; `false` for a resource that cannot be watched. The caller has asked the permission hook. */
export async function watchResource(
  uri: string,
  { host, principal, signal, isOpen = () => true, notify }: WatchOptions,
): Promise<boolean> {
  if (!isResourceUri(uri)) return false;
  const onChange = delivery(async () => {
    if (!isOpen()) return;
    // Its rights may have changed since.
    const tools = await host.tools(principal);
    await tools.read(watchOf(uri), async () => await notify());
  }, signal);
  for (const provider of host.resources ?? []) {
    if (await watchAt(provider, uri, { principal, signal, onChange })) return true;
  }
  return false;
}

async function watchAt(
  provider: McpResources,
  uri: string,
  options: Parameters<NonNullable<McpResources['watch']>>[1],
): Promise<boolean> {
  return await provider.watch?.(uri, options) ?? false;
}

/** Returns a function that delivers changes one after another. Changes during a delivery are one change. */
function delivery(deliver: () => Promise<void>, signal: AbortSignal): () => void {
  let [isBusy, isAgain] = [false, false];
  const work = async (): Promise<void> => {
    do {
      isAgain = false;
      await deliver().catch(() => undefined); // the hook denied it, which was reported, or the client has left
    } while (isAgain && !signal.aborted);
    isBusy = false;
  };
  return () => {
    if (signal.aborted) return;
    isAgain = true;
    if (isBusy) return;
    isBusy = true;
    void work();
  };
}

interface Listening {
  /**
   * Serves a request to listen; `undefined` for any other.
   *
   * @throws PinnaceError `rate_limited` when the principal or its tenant has as many streams as it may, `overloaded` when the endpoint has.
   */
  fetch(request: Request, caller: McpCaller): Promise<Response | undefined>;
}

const maxStreams = 200;
const maxPerTenant = 100;
const maxPerPrincipal = 10;
/** A stream ends after this time. The client listens again, and is authenticated again. */
const longestMs = 1_800_000;

type Owner = Pick<Principal, 'tenant' | 'subject'>;

export function createListening(parts: ServerParts, { keepAliveMs }: { readonly keepAliveMs: number }): Listening {
  const open = new Map<symbol, Owner>();
  const serve = async (request: Request, caller: McpCaller, asked: Asked): Promise<Response> => {
    const stop = new AbortController();
    const { closing } = caller.tools;
    const signal = AbortSignal.any([request.signal, closing, stop.signal, AbortSignal.timeout(longestMs)]);
    let publish: Parameters<ServerEventBus['subscribe']>[0] = () => undefined;
    const bus: ServerEventBus = {
      publish: () => undefined,
      subscribe(listener) {
        publish = listener;
        return () => stop.abort();
      },
    };
    const notifyOf = (uri: string) => () => publish({ kind: 'resource_updated', uri });
    const watched = await watchAll(parts, asked.uris, { caller, signal, notifyOf });
    const body = asked.bodyFor(watched);
    const handler = parts.library.createMcpHandler(() => buildServer(parts, { resources: { subscribe: true } }), {
      bus,
      keepAliveMs,
    });
    const authInfo = { token: '', clientId: caller.principal.subject, scopes: [], extra: { ...caller, body } };
    const own = new Request(request.url, { method: request.method, headers: request.headers, signal });
    return whenRead(await handler.fetch(own, { authInfo, parsedBody: body }), () => stop.abort());
  };
  return {
    async fetch(request, caller) {
      const asked = canWatch(parts.host) ? readListen(caller.body) : undefined;
      if (!asked) return undefined;
      const { tenant, subject } = caller.principal;
      const [key, owner] = [Symbol('stream'), { tenant, subject }];
      requireRoom([...open.values()], owner);
      open.set(key, owner);
      const done = (): void => void open.delete(key);
      try {
        return whenRead(await serve(request, caller, asked), done);
      } catch (error) {
        done();
        throw error;
      }
    },
  };
}

interface Asked {
  readonly uris: readonly string[];
  /** The message with these URIs alone: the acknowledgment names what is watched. */
  readonly bodyFor: (uris: readonly string[]) => unknown;
}

function readListen(body: unknown): Asked | undefined {
  if (!isRecord(body) || body['method'] !== 'subscriptions/listen') return undefined;
  const params = body['params'];
  const notifications = isRecord(params) ? params['notifications'] : undefined;
  const wanted: unknown = isRecord(notifications) ? notifications['resourceSubscriptions'] : undefined;
  if (!isRecord(params) || !isRecord(notifications) || !Array.isArray(wanted)) return undefined;
  const uris = new Set(wanted.filter((uri) => typeof uri === 'string'));
  return {
    uris: [...uris].slice(0, maxSubscriptions),
    bodyFor: (watched) => ({
      ...body,
      params: { ...params, notifications: { ...notifications, resourceSubscriptions: watched } },
    }),
  };
}

/** Returns those that are watched. What the caller may not watch, and what cannot be watched, is left out. */
async function watchAll(
  { host }: ServerParts,
  uris: readonly string[],
  { caller: { principal, tools }, signal, notifyOf }: {
    readonly caller: McpCaller;
    readonly signal: AbortSignal;
    readonly notifyOf: (uri: string) => () => void;
  },
): Promise<readonly string[]> {
  const watched: string[] = [];
  for (const uri of uris) {
    const isWatched = await tools.read(watchOf(uri), async () => {
      return await watchResource(uri, { host, principal, signal, notify: notifyOf(uri) });
    }).catch(() => false); // denied, which was audited
    if (isWatched) watched.push(uri);
  }
  return watched;
}

function requireRoom(owners: readonly Owner[], { tenant, subject }: Owner): void {
  const ofTenant = owners.filter((one) => one.tenant === tenant);
  const isOver = ofTenant.filter((one) => one.subject === subject).length >= maxPerPrincipal;
  if (isOver || ofTenant.length >= maxPerTenant) {
    const most = isOver ? `a caller has at most ${maxPerPrincipal}` : `a tenant has at most ${maxPerTenant}`;
    throw new PinnaceError('rate_limited', `Cannot listen: ${most} streams`, {
      details: { reason: 'too_many_mcp_streams' },
    });
  }
  if (owners.length < maxStreams) return;
  throw new PinnaceError('overloaded', 'Cannot listen: this endpoint has as many streams as it may', {
    retryAfterMs: 5_000,
    details: { reason: 'too_many_mcp_streams' },
  });
}

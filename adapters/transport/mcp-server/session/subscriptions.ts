/** The resources that a session watches. */

import type { Server, ServerContext } from '../sdk-2026.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { inRpc, isResourceUri, unknownResource } from '../content/read-resource.ts';
import type { McpResources } from '../content/resource.ts';
import type { McpHost } from '../host.ts';
import { callerOf, readAs, resourceRead } from '../server.ts';

/** The most resources that a session watches. */
const maxSubscriptions = 100;

/** What subscriptions need. */
export interface SubscriptionOptions {
  readonly server: Server;
  readonly host: McpHost;
  /** Aborts when the session is closed. */
  readonly closed: AbortSignal;
  /** Whether the session may be used now. */
  readonly isOpen: () => boolean;
}

/** Whether a host has resources that can be watched. */
export function canWatch({ resources = [] }: McpHost): boolean {
  return resources.some((provider) => provider.watch !== undefined);
}

/** Serves `resources/subscribe` and `resources/unsubscribe`. */
export function serveSubscriptions({ server, host, closed, isOpen }: SubscriptionOptions): void {
  const watched = new Map<string, AbortController>();
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    if (watched.has(uri)) return {};
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, closed]);
    const notify = (): Promise<void> => server.sendResourceUpdated({ uri });
    const deliver = delivery(() => deliverTo({ uri, host, context, isOpen, notify }), signal);
    await inRpc({ uri }, () =>
      readAs(context, watchOf(uri), undefined, async () => {
        if (watched.size >= maxSubscriptions) throw tooMany();
        watched.set(uri, stop);
        const { principal } = callerOf(context);
        const isWatched = isResourceUri(uri) && await watchOne(host.resources ?? [], uri, {
          principal,
          signal,
          onChange: deliver,
        });
        if (!isWatched) throw unknownResource(uri);
      })).catch((error: unknown) => {
        if (watched.get(uri) === stop) watched.delete(uri);
        stop.abort();
        throw error;
      });
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.get(uri)?.abort();
    watched.delete(uri);
    return {};
  });
}

function watchOf(uri: string): ReturnType<typeof resourceRead> {
  return { ...resourceRead(uri), action: 'mcp.resource.watch', attempt: 'Cannot watch the resource' };
}

async function watchOne(
  providers: readonly McpResources[],
  uri: string,
  options: Parameters<NonNullable<McpResources['watch']>>[1],
): Promise<boolean> {
  for (const provider of providers) {
    if (await provider.watch?.(uri, options)) return true;
  }
  return false;
}

/** Asks again whether the principal may watch the resource: its rights may have changed since it subscribed. */
async function deliverTo(
  { uri, host, context, isOpen, notify }: {
    readonly uri: string;
    readonly host: McpHost;
    readonly context: ServerContext;
    readonly isOpen: () => boolean;
    readonly notify: () => Promise<void>;
  },
): Promise<void> {
  if (!isOpen()) return;
  const tools = await host.tools(callerOf(context).principal);
  await tools.read(watchOf(uri), notify);
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

function tooMany(): PinnaceError {
  return new PinnaceError('rate_limited', `Cannot watch the resource: a session watches at most ${maxSubscriptions}`, {
    retryable: false,
    details: { reason: 'too_many_subscriptions', maxSubscriptions },
  });
}

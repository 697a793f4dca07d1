/** Watches a resource in the name of a principal. */

import type { Principal } from '../../../../src/base/principal.ts';
import type { ClientRead } from '../../../../src/runtime/agent-tools.ts';
import { isResourceUri } from '../content/read-resource.ts';
import type { McpResources } from '../content/resource.ts';
import type { McpHost } from '../host.ts';
import { resourceRead } from '../server.ts';

/** The most resources that a session, or a listening client, watches. */
export const maxSubscriptions = 100;

/** Whether a host has resources that can be watched. */
export function canWatch({ resources = [] }: McpHost): boolean {
  return resources.some((provider) => provider.watch !== undefined);
}

/** What is asked of the permission hook. */
export function watchOf(uri: string): ClientRead {
  return { ...resourceRead(uri), action: 'mcp.resource.watch', attempt: 'Cannot watch the resource' };
}

/** What a watch needs. */
export interface WatchOptions {
  readonly host: McpHost;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** Whether changes may be sent now. */
  readonly isOpen?: () => boolean;
  /** Sends a change to the client. */
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

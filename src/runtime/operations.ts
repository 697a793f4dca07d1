/** What those who operate a runtime ask of it besides runs. */

import { toData } from '../errors.ts';
import type { Caller, Resolver } from './resolver.ts';

/** Resolves agents, so that the next request finds the caches warm; gives the code of each that cannot be. */
export async function prewarm(
  resolver: Resolver,
  agentIds: readonly string[],
  caller: Caller,
): Promise<Record<string, string>> {
  await resolver.refresh();
  const results = await Promise.allSettled(agentIds.map((agentId) => resolver.resolve(agentId, caller)));
  const failed = results.flatMap((result, i) =>
    result.status === 'rejected' ? [[agentIds[i] ?? '', toData(result.reason).code] as const] : []
  );
  return Object.fromEntries(failed);
}

/** Waits for the work, but no longer than this. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, late]);
  clearTimeout(timer);
}

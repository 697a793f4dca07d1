/** Bounds what MCP servers may want of one person, over all instances. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { Storage } from '../contracts/storage.ts';

interface Limited {
  readonly storage: Storage;
  readonly now: () => number;
}

/** The most requests for further rights at one server. */
const maxStepUps = 3;
const stepUpMs = 3_600_000;
const maxTries = 10;

/**
 * Counts a request of a server for further rights of a person.
 *
 * @throws PinnaceError `rate_limited` (`mcp_step_up_limit`) for more than three in an hour.
 */
export async function countStepUp(
  serverId: string,
  { tenant, subject }: Principal,
  { storage, now }: Limited,
): Promise<void> {
  const key = ['mcp-step-ups', tenant, subject, serverId];
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await storage.get(key);
    const known = (entry?.value as readonly number[] | undefined) ?? []; // only written below
    const recent = known.filter((at) => now() - at < stepUpMs);
    if (recent.length >= maxStepUps) throw tooManyStepUps(stepUpMs - (now() - (recent[0] ?? 0)));
    const change = { key, value: [...recent, now()], ttlMs: stepUpMs, ifVersion: entry?.version ?? null };
    if ((await storage.commit([change])).ok) return;
  }
  throw tooManyStepUps(1000);
}

/** The most questions that wait for one person. */
const maxPending = 50;

/** The key under which a question counts for its person until it is answered or expires. */
export function pendingKey({ tenant, subject }: Pick<Principal, 'tenant' | 'subject'>, interruptionId: string): Key {
  return ['mcp-pending', tenant, subject, interruptionId];
}

/** @throws PinnaceError `rate_limited` (`mcp_too_many_questions`) when 50 questions wait for the person. */
export async function requireRoomForQuestion({ tenant, subject }: Principal, { storage }: Limited): Promise<void> {
  const waiting = await storage.list({ prefix: ['mcp-pending', tenant, subject], limit: maxPending });
  if (waiting.length < maxPending) return;
  throw new PinnaceError(
    'rate_limited',
    `Cannot ask another question: ${maxPending} questions of MCP servers wait for this person`,
    { details: { reason: 'mcp_too_many_questions' } },
  );
}

function tooManyStepUps(retryAfterMs: number): PinnaceError {
  return new PinnaceError(
    'rate_limited',
    `Cannot ask for further rights: the MCP server has asked this person ${maxStepUps} times in an hour`,
    { retryAfterMs, details: { reason: 'mcp_step_up_limit' } },
  );
}

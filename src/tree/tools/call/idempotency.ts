/** Remembers the successful answers of calls that came with an idempotency key. */

import { BoundedMap } from '../../../base/bounded-map.ts';
import type { Remembered } from '../../nodes/mutation.ts';

/** The answers of one tree, by agent, tool and key. */
export interface Ledger {
  get(id: string, now: number): Remembered | undefined;
  set(id: string, answer: Remembered): void;
  /** The call with this id that is under way, if one is. */
  readonly pending: Map<string, Promise<unknown>>;
}

/** How many answers are stored, and for how long. The least recently used is evicted first. */
const maxAnswers = 10_000;
export const answerTtlMs = 24 * 60 * 60_000;

/** Creates an empty ledger. */
export function createLedger(): Ledger {
  const answers = new BoundedMap<string, Remembered>(maxAnswers);
  return {
    pending: new Map(),
    get(id, now) {
      const answer = answers.get(id);
      if (!answer) return undefined;
      answers.delete(id);
      if (now - answer.at > answerTtlMs) return undefined;
      answers.set(id, answer);
      return answer;
    },
    set(id, answer) {
      answers.set(id, answer);
    },
  };
}

/** One text for agent, tool and key, whatever characters are in them. */
export function ledgerId(agentId: string, tool: string, key: string): string {
  return JSON.stringify([agentId, tool, key]);
}

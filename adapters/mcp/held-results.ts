/**
 * Holds the server's results back from the libraries, which drop unknown fields, and reject a whole list for one invalid tool. A
 * library gets an empty result with a key, and the key leads back to the held result.
 */

import { isRecord } from '../../src/base/is-record.ts';
import type { Message } from './messages.ts';

/** The results of one session. */
export interface HeldResults {
  /** Returns the response without its content. */
  readonly hold: (message: Message) => Message;
  /** Returns the held result, once. */
  readonly take: (frame: unknown) => unknown;
}

/** Creates the store for a session. */
export function createHeldResults(): HeldResults {
  const held = new Map<unknown, unknown>();
  return {
    hold: (message) => {
      const { result } = message;
      if (!isRecord(result)) return message;
      const { structuredContent: _, ...frame } = result;
      const key = crypto.randomUUID(); // a server cannot know it, so it cannot forge one
      held.set(key, result);
      for (const list of lists) if (list in frame) frame[list] = [];
      if ('completion' in frame) frame['completion'] = { values: [] };
      return { ...message, result: { ...frame, _meta: { [heldKey]: key } } };
    },
    take: (frame) => {
      const meta = isRecord(frame) ? frame['_meta'] : undefined;
      const key = isRecord(meta) ? meta[heldKey] : undefined;
      if (!held.has(key)) return frame;
      const result = held.get(key);
      held.delete(key);
      return result;
    },
  };
}

/** The fields of results that hold content. */
const lists = ['tools', 'content', 'prompts', 'messages', 'resources', 'resourceTemplates', 'contents'];

const heldKey = 'pinnace/held';

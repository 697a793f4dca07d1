/**
 * Keeps what a server lists and answers away from the libraries, which drop fields that they do not know, and a whole list for one
 * tool that they do not like. They are given the frame of a result, and the way back to all of it.
 */

import { isRecord } from '../../src/base/is-record.ts';
import type { Message } from './messages.ts';

/** The results of one session. */
export interface HeldResults {
  /** Returns the answer to `tools/list` or `tools/call` without what it says. */
  readonly hold: (message: Message) => Message;
  /** Returns the result that a library was given the frame of, once. */
  readonly take: (frame: unknown) => unknown;
}

/** Creates the store for a session. */
export function createHeldResults(): HeldResults {
  const held = new Map<unknown, unknown>();
  return {
    hold: (message) => {
      const { result } = message;
      if (!isRecord(result)) return message;
      const { tools, content, structuredContent: _, ...frame } = result;
      const key = crypto.randomUUID(); // a server cannot know it, and so cannot pretend
      held.set(key, result);
      const lists = { ...(tools !== undefined && { tools: [] }), ...(content !== undefined && { content: [] }) };
      return { ...message, result: { ...frame, ...lists, _meta: { [heldKey]: key } } };
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

const heldKey = 'pinnace/held';

/** Adds the guide when an agent searches an empty knowledge, so that it has something to cite. */

import type { Grounding, Storage } from '../../../src/index.ts';

interface StartOptions {
  readonly storage: Storage;
  /** Whether there is a file. */
  readonly isFilled: () => Promise<boolean>;
  /** Adds the guide, and waits until it can be found. */
  readonly addGuide: (signal: AbortSignal | undefined) => Promise<void>;
}

const markKey = ['knowledge', 'begun'];

/** Records that the guide was added: it is not added again after it is removed. */
export async function noteStarted(storage: Storage): Promise<void> {
  if (!await storage.get(markKey)) await storage.commit([{ key: markKey, value: true }]);
}

/** Returns the grounding for agents. Where the guide cannot be added, they are answered without it. */
export function startedGrounding(grounding: Grounding, { storage, isFilled, addGuide }: StartOptions): Grounding {
  let started: Promise<void> | undefined;
  const start = async (signal: AbortSignal | undefined): Promise<void> => {
    if (await isFilled() || await storage.get(markKey)) return;
    await addGuide(signal);
  };
  return {
    ...grounding,
    async retrieve(request, call) {
      await (started ??= start(call?.signal).catch(() => void (started = undefined))); // the next query retries
      return await grounding.retrieve(request, call);
    },
  };
}

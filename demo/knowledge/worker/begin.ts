/** Adds the guide when an agent searches an empty knowledge, so that it has something to cite. */

import type { Grounding, Storage } from '../../../src/index.ts';

interface BeginOptions {
  readonly storage: Storage;
  /** Whether there is a file. */
  readonly isFilled: () => Promise<boolean>;
  /** Adds the guide, and waits until it can be found. */
  readonly addGuide: (signal: AbortSignal | undefined) => Promise<void>;
}

const markKey = ['knowledge', 'begun'];

/** Records that the guide was added: it is not added again after it is removed. */
export async function noteBegun(storage: Storage): Promise<void> {
  if (!await storage.get(markKey)) await storage.commit([{ key: markKey, value: true }]);
}

/** Returns the grounding for agents. Where the guide cannot be added, they are answered without it. */
export function begunGrounding(grounding: Grounding, { storage, isFilled, addGuide }: BeginOptions): Grounding {
  let begun: Promise<void> | undefined;
  const begin = async (signal: AbortSignal | undefined): Promise<void> => {
    if (await isFilled() || await storage.get(markKey)) return;
    await addGuide(signal);
  };
  return {
    ...grounding,
    async retrieve(request, call) {
      await (begun ??= begin(call?.signal).catch(() => void (begun = undefined))); // the next query retries
      return await grounding.retrieve(request, call);
    },
  };
}

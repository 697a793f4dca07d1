/** Custom tools: checked input, a time limit, and an approval for the tool that acts. */

import { defineTool, PinnaceError } from 'pinnace';
import * as v from 'valibot';

const cabins = new Map([['1', 'Ada'], ['2', '']]);
const Cabin = v.pipe(v.string(), v.regex(/^\d{1,3}$/, 'must be the number of a cabin'));

/** Only reads: needs no approval and may be retried. */
export const findCabin = defineTool({
  id: 'cabin_find',
  description: 'Returns the guest of a cabin, by its number',
  input: v.strictObject({ cabin: Cabin }),
  annotations: { readOnlyHint: true },
  execute({ cabin }) {
    const guest = cabins.get(cabin);
    // The model receives the message of a PinnaceError: say what to do. Other errors stay hidden.
    if (guest === undefined) {
      throw new PinnaceError('not_found', `Cannot find cabin ${cabin}: there are ${[...cabins.keys()].join(' and ')}`);
    }
    return { cabin, guest: guest || null };
  },
});

/** Has side effects: every call waits for a person, who sees its input. */
export const giveCabin = defineTool({
  id: 'cabin_give',
  description: 'Assigns a free cabin to a guest',
  input: v.strictObject({ cabin: Cabin, guest: v.pipe(v.string(), v.minLength(1), v.maxLength(80)) }),
  approval: 'always',
  limits: { timeoutMs: 5000 },
  execute({ cabin, guest }, { signal, log }) {
    signal.throwIfAborted();
    cabins.set(cabin, guest);
    log(`Cabin ${cabin} is ${guest}'s now`); // for people; the model does not see it
    return { cabin, guest };
  },
});

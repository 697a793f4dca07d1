/** Counts the work of a check, so that its bound depends on no clock. */

import { PinnaceError } from '../../base/errors.ts';

/** Work that is counted. */
export interface Work {
  /** @throws PinnaceError `invalid_argument`, reason `too_much_work`, once more was spent than there is. */
  spend(units: number): void;
  spent(): number;
}

/** Returns a count that ends at `most` units. */
export function createWork(most: number): Work {
  let spent = 0;
  return {
    spend(units) {
      spent += units;
      if (spent > most) throw tooMuchWork();
    },
    spent: () => spent,
  };
}

/** The error of a check that takes more work than there is. */
export function tooMuchWork(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot check the value: its schema needs too many steps for it', {
    details: { reason: 'too_much_work' },
  });
}

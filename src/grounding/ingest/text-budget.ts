/** How much text a file may become: a file of some hundred bytes can repeat itself into gigabytes. */

import { PinnaceError } from '../../base/errors.ts';

/** The most text of one file, in UTF-16 code units. */
export const mostText = 16_777_216;

/** What is left for the text of one file. Every reader takes from it before it makes text. */
export class TextBudget {
  /** What is being read, for the error. */
  part = 'it';
  readonly #most: number;
  #left: number;

  constructor(most: number = mostText) {
    this.#most = most;
    this.#left = most;
  }

  /** @throws PinnaceError `invalid_argument` with the reason `text_too_long` when more is taken than there is. */
  take(characters: number): void {
    this.require(characters);
    this.#left -= characters;
  }

  /** Throws as {@link take} does, and takes nothing: before text is made that is taken later. */
  require(characters: number): void {
    if (characters <= this.#left) return;
    const most = this.#most.toLocaleString('en');
    throw new PinnaceError(
      'invalid_argument',
      `Cannot read the file: with ${this.part}, its text is longer than ${most} characters; split the file`,
      { details: { reason: 'text_too_long', part: this.part } },
    );
  }
}

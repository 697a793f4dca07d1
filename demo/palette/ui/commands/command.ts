import type { IconName } from '../../../kit/icon.tsx';
import type { Excerpt } from '../../../control/search-control.ts';

export interface Command {
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** What kind of thing it is. */
  readonly hint: string;
  /** The heading that it stands under; its hint, when absent. */
  readonly group?: string;
  /** What was found, with the words of the query, on a line of its own. */
  readonly excerpt?: Excerpt;
  /** What it is, in a text that is searched as well. */
  readonly about?: string;
  /** Other words that it is found by. */
  readonly words?: string;
  /** The key that does the same, as a person reads it. */
  readonly keys?: string;
  readonly go: () => void;
}

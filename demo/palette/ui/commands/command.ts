import type { IconName } from '../../../kit/icon.tsx';

/** One entry of the palette. */
export interface Command {
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** What kind of thing it is. */
  readonly hint: string;
  /** Other words that it is found by. */
  readonly words?: string;
  /** The key that does the same, as a person reads it. */
  readonly keys?: string;
  readonly go: () => void;
}

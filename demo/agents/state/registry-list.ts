/** A list of records: which ones, and those that are there so far. */

import type { RegistryQuery } from '../../../src/registry/index.ts';
import type { AnyRecord } from '../worker/control.ts';

/** Which records the list shows. */
export interface Filter {
  readonly text: string;
  readonly tag: string;
  readonly visibility: '' | NonNullable<RegistryQuery['visibility']>;
  readonly state: '' | NonNullable<RegistryQuery['state']>;
  readonly type: string;
}

/** The records of a list so far. */
export interface Listing {
  readonly items: readonly AnyRecord[];
  readonly nextPageToken?: string;
}

/** The filter that lets everything through. */
export const everything: Filter = { text: '', tag: '', visibility: '', state: '', type: '' };

/** The query to the registry. */
export function queryOf({ text, tag, visibility, state, type }: Filter): RegistryQuery {
  const words = text.trim();
  const only = tag.trim();
  return {
    ...(words !== '' && { text: words }),
    ...(only !== '' && { tags: [only] }),
    ...(visibility !== '' && { visibility }),
    ...(state !== '' && { state }),
    ...(type !== '' && { type }),
  };
}

/**
 * The rules of the `GroundingSource` port as lists of named checks. They know no test runner: give each check a fresh subject, in
 * a test named like the check.
 *
 * @example
 * for (const { name, run } of groundingContract) it(name, () => run(freshSubject()));
 */

import { askingChecks } from './grounding/asking.ts';
import type { GroundingCheck, WritableSubject } from './grounding/check.ts';
import { filteringChecks } from './grounding/filtering.ts';
import { writingChecks } from './grounding/writing.ts';

export type { ContractDocument, GroundingCheck, GroundingSubject, WritableSubject } from './grounding/check.ts';

/** What every source keeps to. */
export const groundingContract: readonly GroundingCheck[] = askingChecks;

/** What a source keeps to that reads the documents' metadata with every operator. */
export const filteringGroundingContract: readonly GroundingCheck[] = [...askingChecks, ...filteringChecks];

/** What a `WritableGroundingSource` keeps to besides. */
export const writableGroundingContract: readonly GroundingCheck<WritableSubject>[] = writingChecks;

/** What a check of the grounding contract is given, and the few words that the checks share. */

import type {
  GroundingRequest,
  GroundingSource,
  SourceHit,
  WritableGroundingSource,
} from '../../../src/contracts/grounding-source.ts';

/** A document that a source holds in its own way: an item, a record, a file. */
export interface ContractDocument {
  readonly id: string;
  readonly text: string;
  readonly metadata: { readonly topic: string; readonly year: number };
}

/** A source to be checked, fresh for each check. */
export interface GroundingSubject {
  /**
   * Opens a source that holds these documents, by tenant. Hits must have the documents' ids, or ids that start with them; their
   * filters must read their `metadata`, if the source has filters.
   */
  readonly open: (documents: Readonly<Record<string, readonly ContractDocument[]>>) => Promise<GroundingSource>;
  /** Returns the vector of a text, for sources that take vectors. */
  readonly embed?: (text: string) => ArrayLike<number>;
}

/** A source that can be written. */
export interface WritableSubject {
  /** Opens the source, which is empty. */
  readonly open: () => Promise<WritableGroundingSource>;
  /** Opens the stored items again, as another instance would. Only for sources that store outside the process. */
  readonly reopen?: () => Promise<WritableGroundingSource>;
  /** The clock that the source goes by. */
  readonly clock: { readonly advance: (ms: number) => void };
}

/** One check, named by the fact that it proves. `run` rejects if the check fails. */
export interface GroundingCheck<Subject = GroundingSubject> {
  readonly name: string;
  readonly run: (subject: Subject) => Promise<void>;
}

export const acmeDocuments: readonly ContractDocument[] = [
  { id: 'tides', text: 'The harbour tides rise twice a day.', metadata: { topic: 'sea', year: 2021 } },
  { id: 'anchors', text: 'Anchors hold a ship in the harbour.', metadata: { topic: 'sea', year: 2023 } },
  { id: 'bread', text: 'Bread needs flour, water and patience.', metadata: { topic: 'kitchen', year: 2022 } },
  { id: 'soup', text: 'Soup is water with vegetables.', metadata: { topic: 'kitchen', year: 2024 } },
  { id: 'violins', text: 'Violins are tuned in fifths.', metadata: { topic: 'music', year: 2020 } },
];

/** The one document of the tenant `globex`. */
export const globexDocuments: readonly ContractDocument[] = [
  { id: 'harbours', text: 'Globex builds a secret harbour.', metadata: { topic: 'sea', year: 2025 } },
];

/** Queries the source as `acme`, with text or with its vector, whichever the source supports. */
export async function retrieve(
  source: GroundingSource,
  subject: Pick<GroundingSubject, 'embed'>,
  { query, signal = new AbortController().signal, ...request }: Partial<GroundingRequest> & { signal?: AbortSignal },
): Promise<readonly SourceHit[]> {
  const byVector = query !== undefined && !source.capabilities.query && subject.embed;
  const input = byVector ? { embedding: byVector(query) } : { query };
  return await source.retrieve({ tenant: 'acme', topK: 10, filters: [], ...input, ...request }, signal);
}

/** Opens the source with the documents of both tenants. */
export function openBoth({ open }: GroundingSubject): Promise<GroundingSource> {
  return open({ acme: acmeDocuments, globex: globexDocuments });
}

export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

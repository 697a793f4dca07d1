/** The worker's knowledge interface for the page, over comlink. */

import type { ErrorData } from '../../src/index.ts';
import type { Answer } from './answer.ts';

/** How far a file is. `stopped`: a person has stopped it, and what was indexed can be found. */
export type FileState = 'waiting' | 'indexing' | 'ready' | 'stopped' | 'failed';

/** A file as the page shows it. */
export interface KnowledgeFile {
  /** With its folders; names it. */
  readonly name: string;
  readonly kind: 'document' | 'code' | 'picture';
  /** In bytes. */
  readonly size: number;
  readonly state: FileState;
  /** Parts that are indexed, and how many there are; of code, lines. */
  readonly done: number;
  readonly total: number;
  /** Milliseconds since 1970. */
  readonly addedAt: number;
  readonly error?: ErrorData;
  /** What was read, such as `12 pages`. */
  readonly read?: string;
  /** What was not read, with the reason, such as `page 3: no text`. */
  readonly skipped?: readonly string[];
}

/** A file that a person adds. */
export interface Upload {
  readonly name: string;
  readonly type?: string;
  readonly content: Blob;
}

/** What became of the files that were given; those that cannot be read are listed with their errors. */
export interface AddReport {
  readonly added: number;
  /** Had another content before. */
  readonly replaced: number;
  /** Were here already as they are. */
  readonly unchanged: number;
  /** The same content is here under another name. */
  readonly copies: readonly { readonly name: string; readonly of: string }[];
  readonly refused: number;
  /** Files of folders and archives that are neither documents nor code. */
  readonly leftOut: number;
}

/** What looked for it: the words, their likeness, or the code. */
export type Way = 'words' | 'likeness' | 'code';

/** Where one way of searching saw a hit. */
export interface FoundBy {
  readonly way: Way;
  /** From 1. */
  readonly rank: number;
  readonly score: number;
  /** 0 to 1, by this way alone. */
  readonly confidence: number;
}

export interface FoundPart {
  readonly id: string;
  readonly file: string;
  readonly kind: 'document' | 'code';
  /** Which part of the file, from 0. */
  readonly piece: number;
  readonly title?: string;
  readonly lines?: readonly [from: number, to: number];
  /** The line of code that matched first. */
  readonly line?: number;
  readonly content: string;
  /** Where words matched, in UTF-16 code units of the content. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  /** 0 to 1. */
  readonly confidence: number;
  readonly foundBy: readonly FoundBy[];
}

export interface KnowledgeQuery {
  readonly text: string;
  /** Only in these; in all when empty. */
  readonly files: readonly string[];
  /** The most parts, up to 100. */
  readonly limit: number;
}

export interface FoundParts {
  readonly parts: readonly FoundPart[];
  /** The probability that the files answer the query at all. */
  readonly answered: number;
  readonly tookMs: number;
  /** There may be more results than requested. */
  readonly hasMore: boolean;
  /** Why a way of searching failed; the others have answered. */
  readonly problems: readonly string[];
}

export interface FilePart {
  readonly piece: number;
  readonly text: string;
  readonly title?: string;
  readonly lines?: readonly [from: number, to: number];
}

/** Some parts of a file, one after the other. */
export interface PartsPage {
  readonly file: KnowledgeFile;
  readonly total: number;
  readonly parts: readonly FilePart[];
}

export interface KnowledgeNews {
  readonly changed: readonly KnowledgeFile[];
  readonly removed: readonly string[];
}

/** What there is at first. `isKept`: it survives a reload. */
export interface OpenedKnowledge {
  readonly files: readonly KnowledgeFile[];
  readonly isStored: boolean;
}

/** The knowledge of the page's worker. */
export interface KnowledgeControl {
  /** From now on `onNews` receives news. */
  open(onNews: (news: KnowledgeNews) => void): Promise<Answer<OpenedKnowledge>>;
  /** Stores the files and starts to index them. Archives are unpacked. */
  add(uploads: readonly Upload[]): Promise<Answer<AddReport>>;
  /** Adds Pinnace's own guide. */
  addGuide(): Promise<Answer<AddReport>>;
  stop(name: string): Promise<Answer<void>>;
  /** Goes on with a file that was stopped or has failed. */
  resume(name: string): Promise<Answer<void>>;
  remove(names: readonly string[]): Promise<Answer<void>>;
  /** A newer search ends the one before, which then is `cancelled`. */
  search(query: KnowledgeQuery): Promise<Answer<FoundParts>>;
  /** The bytes of a file that is stored as it is: a picture, or what was not indexed. */
  content(name: string): Promise<Answer<Blob>>;
  parts(wanted: { readonly file: string; readonly from: number; readonly count: number }): Promise<Answer<PartsPage>>;
}

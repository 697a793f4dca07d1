/** A file of the knowledge that is read: some of its parts around a place, more when the person goes on. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { FilePart, KnowledgeControl, KnowledgeFile } from '../../control/knowledge-control.ts';
import { toDataUrl } from '../../files/state/data-url.ts';
import { sha256 } from '../../../src/base/hash.ts';

/** Where a person should look. */
export interface ReadingPlace {
  readonly piece: number;
  /** What is to be marked in the part's text; all of the part where nothing is named. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
  /** What is to be marked of code. */
  readonly lines?: readonly [from: number, to: number];
  /** Of the part's text when it was cited: SHA-256, hexadecimal. */
  readonly contentHash?: string;
}

export interface OpenFile {
  readonly name: string;
  /** Until it was read, nothing is known of it. */
  readonly file?: KnowledgeFile;
  readonly parts: readonly FilePart[];
  readonly total: number;
  readonly place: ReadingPlace | undefined;
  /** Why it cannot be read, or not as it was cited. */
  readonly problem?: string;
  /** The picture, as a data URL. */
  readonly picture?: string;
}

export interface KnowledgeReading {
  readonly open: ReadonlySignal<OpenFile | undefined>;
  read(name: string, place?: ReadingPlace): Promise<void>;
  /** Returns the parts before or after those that are there. */
  more(direction: -1 | 1): Promise<void>;
  close(): void;
}

const perPage = 20;
/** Parts that are drawn at once; beyond, those at the other end go. */
const mostParts = 100;

/** Reads nothing at first. */
export function createKnowledgeReading(control: Pick<KnowledgeControl, 'parts' | 'content'>): KnowledgeReading {
  const open = signal<OpenFile | undefined>(undefined);
  let isBusy = false;

  async function load(name: string, from: number): ReturnType<KnowledgeControl['parts']> {
    try {
      return await control.parts({ file: name, from, count: perPage });
    } catch {
      const message = 'The file could not be read. Reload the page to try again.';
      return { ok: false, error: { code: 'unavailable', message, retryable: true } };
    }
  }

  /** A data URL, which the page's policy lets images have. */
  async function pictureOf(name: string): Promise<string | undefined> {
    const answer = await control.content(name).catch(() => undefined);
    return answer?.ok ? await toDataUrl(answer.value) : undefined;
  }

  return {
    open,
    async read(name, place) {
      open.value = { name, parts: [], total: 0, place };
      const own = open.value;
      const answer = await load(name, Math.max(0, (place?.piece ?? 0) - 5));
      const problem = answer.ok ? await whatIsWrong(place, answer.value.parts) : answer.error.message;
      if (open.value !== own) return;
      const picture = answer.ok && answer.value.file.kind === 'picture' ? await pictureOf(name) : undefined;
      if (open.value !== own) return;
      open.value = {
        ...own,
        ...(answer.ok && answer.value),
        ...(problem !== undefined && { problem }),
        ...(picture !== undefined && { picture }),
      };
    },
    async more(direction) {
      const own = open.value;
      const [first, last] = [own?.parts[0], own?.parts.at(-1)];
      if (!own || !first || !last || isBusy) return;
      const from = direction > 0 ? last.piece + 1 : Math.max(0, first.piece - perPage);
      if (direction > 0 ? from >= own.total : first.piece === 0) return;
      isBusy = true;
      const answer = await load(own.name, from);
      isBusy = false;
      if (open.value !== own) return;
      if (!answer.ok) open.value = { ...own, problem: answer.error.message };
      else open.value = { ...own, ...answer.value, parts: joined(own.parts, answer.value.parts, direction) };
    },
    close: () => void (open.value = undefined),
  };
}

/** A citation is of what was read then: what is there now may be something else. */
async function whatIsWrong(place: ReadingPlace | undefined, parts: readonly FilePart[]): Promise<string | undefined> {
  if (!place) return undefined;
  const part = parts.find(({ piece }) => piece === place.piece);
  if (!part) return 'The file changed: this passage no longer exists.';
  if (place.contentHash === undefined || place.contentHash === await sha256(part.text)) return undefined;
  return 'This passage changed after it was cited.';
}

function joined(here: readonly FilePart[], more: readonly FilePart[], direction: -1 | 1): readonly FilePart[] {
  if (direction > 0) return [...here, ...more].slice(-mostParts);
  const before = more.filter(({ piece }) => piece < (here[0]?.piece ?? Infinity));
  return [...before, ...here].slice(0, mostParts);
}

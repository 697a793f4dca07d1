/**
 * Labels: who said a value, and who may read it.
 *
 * What must hold:
 *
 * 1. A label is frozen, and equal labels are the same object: they are compared by identity.
 * 2. `join` is commutative, associative and idempotent, and never returns less than either side. Nothing here removes a source.
 * 3. A label that cannot be read is {@link unlabelled}: anybody said it, and only the principal may read it. No label is never "trusted".
 * 4. A source id is made of ids of records and of hashes, never of text that a tool has returned.
 */

import { isRecord } from '../base/is-record.ts';

/** Who may read a value, from the most open to the strictest. */
export type Readers = 'public' | 'tenant' | 'principal';

/** Who said a value, and who may read it. Frozen; equal labels are the same object. */
export interface Label {
  /** The sources, sorted: `tool:<id>`, `mcp:<alias>`, `data-source:<id>`, `file:<hash>`, `agent:<id>`, `memory:<id>`, `model:reader`; `['*']`: anybody. Empty: the user or the operator. */
  readonly from: readonly string[];
  readonly readers: Readers;
  /** The value is one of a few that the operator knows; a stranger has only chosen it. */
  readonly narrow?: true;
}

const strictness = ['public', 'tenant', 'principal'] as const;
const mostSources = 16;
const sourceForm = /^(?:\*|[a-z][a-z-]{0,15}:[\w.:/-]{1,160})$/;
const anybody: readonly string[] = ['*'];

/** Labels by their text. Those that nothing refers to any more are removed. */
const interned = new Map<string, WeakRef<Label>>();
const removed = new FinalizationRegistry<string>((text) => {
  if (!interned.get(text)?.deref()) interned.delete(text);
});
const joins = new WeakMap<Label, WeakMap<Label, Label>>();

/** What the user or the operator said, for anyone to read. */
export const trusted: Label = labelOf([], 'public');

/** What nothing is known of: anybody said it, and only the principal may read it. */
export const unlabelled: Label = labelOf(anybody, 'principal');

/** Returns the label of a value from these sources. More than 16 sources, or one that is no source id, are anybody. */
export function labelOf(from: readonly string[], readers: Readers, isChosen = false): Label {
  const sources = sourcesOf(from);
  const isNarrow = isChosen && sources.length > 0;
  const text = `${readers}${isNarrow ? '?' : ' '}${sources.join(' ')}`;
  const known = interned.get(text)?.deref();
  if (known) return known;
  const label: Label = Object.freeze({
    from: Object.freeze([...sources]),
    readers,
    ...(isNarrow && { narrow: true as const }),
  });
  interned.set(text, new WeakRef(label));
  removed.register(label, text);
  return label;
}

function sourcesOf(from: readonly string[]): readonly string[] {
  if (from.length === 0) return from;
  const sources = [...new Set(from)].toSorted();
  return sources.length > mostSources || sources.includes('*') || !sources.every((id) => sourceForm.test(id))
    ? anybody
    : sources;
}

/** Returns the label of what is made of both: all sources, and the stricter readers. Narrow where each of a stranger is. */
export function join(one: Label, other: Label): Label {
  if (one === other || other === trusted) return one;
  if (one === trusted) return other;
  let known = joins.get(one);
  if (!known) joins.set(one, known = new WeakMap());
  let joined = known.get(other);
  if (joined) return joined;
  const readers = stricter(one.readers, other.readers);
  const isNarrow = isHarmless(one) && isHarmless(other);
  joined = labelOf([...one.from, ...other.from], readers, isNarrow);
  known.set(other, joined);
  return joined;
}

function isHarmless(label: Label): boolean {
  return label.from.length === 0 || label.narrow === true;
}

/** Returns the stricter of two groups of readers. */
export function stricter(one: Readers, other: Readers): Readers {
  return strictness.indexOf(one) < strictness.indexOf(other) ? other : one;
}

/** Whether joining `less` to the label adds nothing. */
export function covers(label: Label, less: Label): boolean {
  return join(label, less) === label;
}

/** The label of one of the operator's own values that a stranger has chosen. */
export function narrow({ from, readers }: Label): Label {
  return labelOf(from, readers, true);
}

/** Whether a stranger may have said the value. */
export function isUntrusted({ from }: Label): boolean {
  return from.length > 0;
}

/** Reads a label that was stored or sent. Anything that is none, in any part, is {@link unlabelled}. */
export function parseLabel(data: unknown): Label {
  if (data === trusted || !isRecord(data)) return data === trusted ? trusted : unlabelled;
  const { from, readers, narrow: isNarrow } = data;
  if (!Array.isArray(from) || from.length > mostSources) return unlabelled;
  const sources: readonly unknown[] = from;
  const group = strictness.find((each) => each === readers);
  if (!group || !sources.every((id) => typeof id === 'string' && sourceForm.test(id))) return unlabelled;
  if (isNarrow !== undefined && isNarrow !== true) return unlabelled;
  return labelOf(sources as readonly string[], group, isNarrow === true); // checked
}

/** The level of protection of an agent, from the lowest. */
export type Trust = 'open' | 'watched' | 'guarded';

const levels = ['open', 'watched', 'guarded'] as const;

/** Returns the higher of the levels: none can lower another. */
export function highestTrust(...given: readonly (Trust | undefined)[]): Trust {
  return levels[Math.max(0, ...given.map((level) => levels.indexOf(level ?? 'open')))] ?? 'guarded';
}

/**
 * What is known of one call. A label is found by the JSON Pointer of its value in the input: a value has the label of its own
 * pointer, of those above and of those within it. A value without any is trusted: the user or the operator has written it.
 */
export interface CallFacts {
  readonly args: ReadonlyMap<string, Label>;
  /** The call was stated before its program has read anything. */
  readonly planned?: boolean | undefined;
}

/** Returns the label of the value at a pointer: what stands above it, at it, and within it. */
export function labelAt({ args }: Pick<CallFacts, 'args'>, pointer: string): Label {
  let label = trusted;
  for (const [at, each] of args) {
    if (overlaps(at, pointer)) label = join(label, each);
  }
  return label;
}

/** Whether one of two places in an input is the other, or within it. */
export function overlaps(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

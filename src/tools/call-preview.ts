/**
 * What a tool shows of a call to the person who must approve it: the thing in quotation marks, and what changes.
 *
 * - The heading is a constant of the definition, and the tool cannot write a sentence: what it returns is shown as data, in quotation
 *   marks or in a table, without characters that hide or reorder text. So no data and no model can forge a heading.
 * - What was shown is bound into the decision by its digest, of all that was returned and not of what fits: before the call is made it
 *   is asked for again, and another digest asks the person anew.
 * - A preview that fails, takes longer than two seconds or is too large is none, and the person is told so.
 */

import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Principal } from '../base/principal.ts';
import { visible } from '../base/text.ts';
import { raceAbort } from '../base/until-aborted.ts';
import type { CallPreview, PreviewValue, Tool } from './tool.ts';

/** A preview as people see it. */
export interface ShownPreview {
  readonly quote?: string;
  readonly changes?: readonly { readonly label: string; readonly before: string; readonly after: string }[];
  /** Changes beyond those that are shown. */
  readonly moreChanges?: number;
  /** The tool has none for this call. */
  readonly noPreview?: true;
}

/** A preview and the digest that a decision is bound to. */
export interface TakenPreview {
  readonly shown: ShownPreview;
  readonly digest: string;
}

const timeoutMs = 2_000;
const longestQuote = 200;
const longestLabel = 60;
const longestValue = 240;
const mostChanges = 20;
/** Larger previews are refused: they are made for a person, and kept by no one. */
const mostCharacters = 262_144;

/** Returns what the tool shows of the call, with texts redacted before they are cut; `undefined` for a tool without `describe`. */
export async function previewCall(
  { check, describe }: Tool,
  input: unknown,
  { principal, redact }: { readonly principal: Principal; readonly redact: <T>(data: T) => T },
): Promise<TakenPreview | undefined> {
  if (!describe) return undefined;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error('The preview took too long')), timeoutMs);
  try {
    const checked = await check(input);
    if (!checked.ok) return none;
    const { signal } = stop;
    const preview = dataOf(await raceAbort(Promise.resolve(describe(checked.input, { principal, signal })), signal));
    const text = canonicalJson(preview);
    if (text.length > mostCharacters) return none;
    return { shown: shownOf(redact(preview)), digest: await sha256(text) };
  } catch {
    return none; // the person is told that there is none
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

const none: TakenPreview = { shown: { noPreview: true }, digest: 'none' };

/** The fields that count, as data: whatever else is returned is neither shown nor bound. Throws for values of other types. */
function dataOf(
  { quote, changes = [] }: CallPreview,
): { readonly quote?: string; readonly changes: readonly Change[] } {
  return {
    ...(quote !== undefined && { quote: textOf(quote) }),
    changes: changes.map(({ label, before = null, after = null }) => ({
      label: textOf(label),
      before: valueOf(before),
      after: valueOf(after),
    })),
  };
}

interface Change {
  readonly label: string;
  readonly before: PreviewValue;
  readonly after: PreviewValue;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.toWellFormed();
  throw new TypeError('A text of a preview must be a string');
}

function valueOf(value: unknown): PreviewValue {
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return value as PreviewValue; // as just looked at
  return textOf(value);
}

function shownOf({ quote, changes }: ReturnType<typeof dataOf>): ShownPreview {
  const rows = changes.slice(0, mostChanges).map(({ label, before, after }) => ({
    label: shown(label, longestLabel),
    before: before === null ? '' : shown(String(before), longestValue),
    after: after === null ? '' : shown(String(after), longestValue),
  }));
  return {
    ...(quote !== undefined && { quote: shown(quote, longestQuote) }),
    ...(rows.length > 0 && { changes: rows }),
    ...(changes.length > rows.length && { moreChanges: changes.length - rows.length }),
  };
}

/** As much of the text as may be shown on one line; line breaks between words are spaces. */
function shown(text: string, most: number): string {
  const line = text.slice(0, most * 2).replaceAll(/[ \t\r\n]+/g, ' ').trim();
  let head = '';
  for (const character of line) {
    const next = head + visible(character);
    if (next.length > most - 1) return `${head}…`;
    head = next;
  }
  return text.length > most * 2 ? `${head}…` : head;
}

/** The preview as lines of text. Each starts with a fixed word. */
export function previewLines({ quote, changes = [], moreChanges = 0, noPreview }: ShownPreview): readonly string[] {
  return [
    ...(quote === undefined ? [] : [`Preview: “${quote}”`]),
    ...changes.map(({ label, before, after }) =>
      `Change: ${JSON.stringify(label)} from ${JSON.stringify(before)} to ${JSON.stringify(after)}`
    ),
    ...(moreChanges > 0 ? [`Change: ${moreChanges} more`] : []),
    ...(noPreview ? ['No preview'] : []),
  ];
}

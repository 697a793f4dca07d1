/** The input of a tool call as an event describes it: its length, its declared names and a digest. Never a value. */

import type { DigestOf } from '../events/input-digests.ts';
import { canonicalJson } from '../base/json.ts';
import type { SummaryValue } from '../contracts/span.ts';
import { declaredFields, schemasOf } from './declared-fields.ts';
import { visible } from './visible-text.ts';

/** What a summary is made with. */
export interface InputSummaryOptions {
  /** The tool's JSON Schema. */
  readonly schema: unknown;
  readonly tenant: string;
  /** Without one there is no digest. */
  readonly digestOf: DigestOf | undefined;
}

/** The facts of an input. */
export interface InputSummary extends Readonly<Record<string, SummaryValue>> {
  /** The length of its JSON in UTF-16 code units; absent where it is no JSON. */
  readonly input: number | undefined;
  /** Absent for an input that is longer than 16,384 or no JSON. */
  readonly digest: string | undefined;
  /** The top-level names that the schema declares, and how many others there are: `city,unit,+2 undeclared`. */
  readonly keys: string | undefined;
}

/** To hash more than this would take longer than the rest of the event. */
const maxDigestLength = 16_384;
const maxNames = 16;
const maxName = 40;
/** The names as written, so that the other facts of the event have room. */
const maxWritten = 240;
const bare = /^[\w.:$/@*-]+$/;

/** Returns the facts. Never throws, whatever the input is made of. */
export function inputSummary(input: unknown, { schema, tenant, digestOf }: InputSummaryOptions): InputSummary {
  try {
    const length = JSON.stringify(input)?.length;
    const isShort = length !== undefined && length <= maxDigestLength;
    const digest = isShort ? digestOf?.(canonicalJson(input), tenant) : undefined;
    return { input: length, digest, keys: keysOf(input, schema) };
  } catch {
    return { input: undefined, digest: undefined, keys: undefined }; // no JSON: the check of the call rejects it
  }
}

/** The model chooses names as freely as values, so only those of the schema are written. */
function keysOf(input: unknown, schema: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const declared = declaredNames(schema).filter((name) => Object.hasOwn(input, name));
  let text = '';
  let count = 0;
  for (const name of declared.slice(0, maxNames)) {
    const next = `${text === '' ? '' : `${text},`}${escaped(name)}`;
    if (JSON.stringify(next).length > maxWritten) break; // the summary quotes it
    text = next;
    count++;
  }
  const others = Object.keys(input).length - declared.length;
  const more = declared.length - count;
  const parts = [text, more > 0 ? `+${more} more` : '', others > 0 ? `+${others} undeclared` : ''];
  return parts.filter((part) => part !== '').join(',') || undefined;
}

/** A name that could be read as something else is written as JSON text. */
function escaped(name: string): string {
  const short = name.length > maxName ? `${name.slice(0, maxName - 1)}…` : name;
  return bare.test(short) ? short : visible(JSON.stringify(short));
}

function declaredNames(schema: unknown): readonly string[] {
  return [...declaredFields(schemasOf(schema), schema).fields.keys()];
}

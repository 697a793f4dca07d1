/**
 * What the programs of a guarded agent must not see: the host has the values, and the program has their names.
 *
 * What must hold:
 *
 * 1. A value that a stranger may have said never enters a cell: not as an output, not in an error, not as a key.
 * 2. A handle is replaced by its value right before the call is prepared, and the label of the value goes with it, by the pointer
 *    where it is. What is not listed was written by the program itself.
 * 3. Once a program has branched on a value, its label is that of everything which the program does after that (`branched`).
 * 4. The name of a value is that of its program and the number of its call, so a program that goes on uses the same names.
 * 5. Unknown names are one error, whether another run has them or not.
 */

import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { pointerBelow, readPointer } from '../base/json.ts';
import type { JsonSchema } from '../base/schema.ts';
import { type CallFacts, isUntrusted, join, type Label, narrow, trusted } from '../permission/label.ts';
import type { Acts } from './acts.ts';
import type { CallResult } from './drive-program.ts';
import { isNarrow } from './reader-schema.ts';

/** The most values of a run that programs do not see, and the most text of them as JSON. */
const maxHandles = 10_000;
const maxLength = 67_108_864;
/** The most handles in one input: each is replaced by a value of its own. */
const maxMentions = 1_000;

/** Counts the values of one run. */
export class HandleCount {
  #count = 0;
  #length = 0;

  /** @throws PinnaceError `budget_exceeded` (`handles`). */
  add(value: unknown): void {
    this.#count += 1;
    if (typeof value === 'string') this.#length += value.length;
    else if (typeof value === 'object') this.#length += JSON.stringify(value).length;
    if (this.#count <= maxHandles && this.#length <= maxLength) return;
    throw new PinnaceError('budget_exceeded', 'The program was stopped: its run holds too many values of tools', {
      details: { reason: 'handles' },
    });
  }
}

/** A value that a program does not see. */
export interface Held {
  readonly value: unknown;
  readonly label: Label;
  /** What a reader was asked for. */
  readonly schema?: JsonSchema;
}

/** An input with the values in place of the handles. */
export interface ResolvedInput {
  readonly input: unknown;
  /** By JSON Pointer; `''` once the program has branched on a value. */
  readonly facts: CallFacts;
  /** The label of all of it together. */
  readonly label: Label;
}

/** The handles of one program. */
export class Handles {
  readonly #count: HandleCount;
  readonly #held = new Map<string, Held>();
  #branched: Label = trusted;

  constructor(count: HandleCount) {
    this.#count = count;
  }

  hold(id: string, held: Held): void {
    this.#count.add(held.value);
    this.#held.set(id, held);
  }

  /** The value fits this schema of a reader. */
  type(id: string, schema: JsonSchema): void {
    const held = this.#held.get(id);
    if (held) this.#held.set(id, { ...held, schema });
  }

  /** The label of all that the program does now. */
  get branched(): Label {
    return this.#branched;
  }

  /** The program goes on by a value with this label. */
  branch(label: Label): void {
    this.#branched = join(this.#branched, label);
  }

  /**
   * `branched`: the label of the program when it made the call.
   *
   * @throws PinnaceError `invalid_argument` (`handle_unknown`) for a handle that the program does not have.
   */
  resolve(given: unknown, branched: Label = this.#branched): ResolvedInput {
    const args = new Map<string, Label>();
    let label = branched;
    if (isUntrusted(label)) args.set('', label);
    let mentions = 0;
    const input = this.#walk(given, '', (at, of) => {
      if (++mentions > maxMentions) throw tooManyMentions();
      args.set(at, of);
      label = join(label, of);
    });
    return { input, facts: { args }, label };
  }

  /** What the planner reads in place of a value: numbers are rounded up, and nothing of the value is said. */
  describe(given: unknown): unknown {
    const mark = markIn(given);
    if (mark) return this.#line(mark);
    if (Array.isArray(given)) return given.map((each) => this.describe(each));
    if (!isRecord(given)) return given;
    return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, this.describe(value)]));
  }

  #line({ id, path }: Mark): string {
    const { value, label } = this.#find({ id, path });
    const from = label.from.join(', ') || 'a stranger';
    return `${id}${path.split('/').length > 1 ? ' (a part)' : ''}: untrusted ${sizeOf(value)} from ${from}`;
  }

  #walk(given: unknown, at: string, onValue: (at: string, label: Label) => void): unknown {
    const mark = markIn(given);
    if (mark) {
      const { value, label } = this.#find(mark);
      onValue(at, label);
      return typeof value === 'object' ? structuredClone(value) : value; // a tool may change its input
    }
    if (Array.isArray(given)) return given.map((each, i) => this.#walk(each, `${at}/${i}`, onValue));
    if (!isRecord(given)) return given;
    const entries: (readonly [string, unknown])[] = [];
    let hasChanged = false;
    for (const key of Object.keys(given)) {
      const value = this.#walk(given[key], pointerBelow(at, key), onValue);
      if (value !== undefined) entries.push([key, value]);
      if (value !== given[key]) hasChanged = true;
    }
    return hasChanged ? Object.fromEntries(entries) : given;
  }

  /** Finds the value of a handle. */
  valueOf(given: unknown): Held {
    const mark = markIn(given);
    return mark ? this.#find(mark) : { value: given, label: trusted };
  }

  #find({ id, path }: Mark): Held {
    const held = this.#held.get(id);
    if (!held) {
      throw new PinnaceError('invalid_argument', 'Cannot use the handle: this program has no such handle', {
        details: { reason: 'handle_unknown' },
      });
    }
    const { schema, label } = held;
    return { value: partOf(held.value, path), label: schema && isNarrow(schema, path) ? narrow(label) : label };
  }
}

/** What the program of a guarded agent is held to. */
export interface ProgramGuard {
  readonly handles: Handles;
  readonly acts: Acts;
  /** Of the program in its run: its handles are named by it. */
  readonly ordinal: number;
  /** A person has approved what the program will do. */
  readonly approved: boolean;
}

/** Hands a value to the program: as it is where it is trusted, else its handle. */
export function handOver(
  output: unknown,
  label: Label,
  { n, guard: { handles, ordinal } }: { readonly n: number; readonly guard: ProgramGuard },
): CallResult {
  if (!isUntrusted(label)) return { ok: true, output };
  const handle = `h${ordinal}_${n}`;
  handles.hold(handle, { value: output, label });
  return { ok: true, output, handle, label };
}

function tooManyMentions(): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use more than ${maxMentions} handles in one input`, {
    details: { reason: 'input_handles' },
  });
}

interface Mark {
  readonly id: string;
  readonly path: string;
}

/** @throws PinnaceError `budget_exceeded` (`bridge_abused`) for an object with this key that no prelude writes. */
function markIn(given: unknown): Mark | undefined {
  if (!isRecord(given) || !Object.hasOwn(given, '$handle')) return undefined;
  const { $handle: id, path, ...others } = given;
  if (typeof id === 'string' && typeof path === 'string' && Object.keys(others).length === 0) return { id, path };
  throw new PinnaceError('budget_exceeded', 'The program was stopped: it wrote a handle itself: "$handle"', {
    details: { reason: 'bridge_abused' },
  });
}

/** The part of a value at a JSON Pointer; `undefined` where there is none. Texts and lists have a `length`. */
function partOf(value: unknown, path: string): unknown {
  if (path.endsWith('/length')) {
    const whole = readPointer(value, path.slice(0, -'/length'.length));
    if (typeof whole === 'string' || Array.isArray(whole)) return whole.length;
  }
  return readPointer(value, path);
}

function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `list, up to ${roundedUp(value.length)} items`;
  if (typeof value === 'string') return `text, up to ${roundedUp(value.length)} characters`;
  return value === undefined ? 'nothing' : isRecord(value) ? 'object' : value === null ? 'null' : typeof value;
}

function roundedUp(size: number): number {
  return size === 0 ? 0 : 2 ** Math.ceil(Math.log2(size));
}

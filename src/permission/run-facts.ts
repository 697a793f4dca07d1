/**
 * The facts of a run: what has been read by it, and what of that can be in a call.
 *
 * What must hold:
 *
 * 1. Facts only grow. What has gone into a model call may be in everything that the model says from then on.
 * 2. An output has the label of its tool joined with that of its input, whatever the tool says of itself.
 * 3. The facts of a call are those of the moment in which the model has written it: what another call of the same step reads meanwhile
 *    is no part of it.
 * 4. Growth is recorded before the output that it comes from is: an instance that goes on with the run knows at least as much. Facts
 *    that have not grown are recorded when a decision first depends on them, so most open agents pay nothing for them.
 */

import { pointerBelow } from '../base/json.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { CallContextFacts } from '../contracts/authenticator.ts';
import {
  type CallFacts,
  join,
  type Label,
  labelAt,
  labelOf,
  narrow,
  overlaps,
  type Readers,
  stricter,
  type Trust,
  trusted,
  unlabelled,
} from './label.ts';

/** The parts of a definition that labels depend on. */
type Labelled = Pick<ToolDefinition, 'id' | 'type' | 'annotations' | 'reads' | 'sends'>;

/** What a run has read and called. */
export class RunFacts {
  #read: Label;
  readonly #calls: Map<string, number>;
  /** The tools that were called, in their order, and how often each was called before them. */
  readonly #called: string[] = [];
  readonly #callsBefore: ReadonlyMap<string, number>;
  readonly #asked: Map<string, Label>;
  /** What the caller has said last: values in it are the caller's. */
  readonly #said: string;
  #words: SaidWords | undefined;
  readonly #onGrown: (facts: RunFacts) => void;
  #isRecorded = false;

  constructor(
    { read = trusted, calls = [], asked = [], said = '', onGrown = () => undefined }: {
      readonly read?: Label;
      /** The calls that a person was asked about, with what had been read before them. */
      readonly asked?: Iterable<readonly [toolCallId: string, read: Label]>;
      readonly calls?: Iterable<readonly [string, number]>;
      readonly said?: string;
      /** Is called when the facts have to be recorded. */
      readonly onGrown?: (facts: RunFacts) => void;
    } = {},
  ) {
    this.#read = read;
    this.#calls = new Map(calls);
    this.#callsBefore = new Map(this.#calls);
    this.#asked = new Map(asked);
    this.#said = said;
    this.#onGrown = onGrown;
  }

  /** The join of everything that went into a model call. */
  get read(): Label {
    return this.#read;
  }

  /** How often each tool was called. */
  get calls(): ReadonlyMap<string, number> {
    return this.#calls;
  }

  /** What the caller has said last, in the form that values are looked for in. */
  get words(): SaidWords {
    return this.#words ??= new SaidWords(this.#said);
  }

  /** Adds what the model receives. */
  add(label: Label): void {
    const read = join(this.#read, label);
    if (read === this.#read) return;
    this.#read = read;
    this.#isRecorded = true;
    this.#onGrown(this);
  }

  /** Has the facts recorded once, also where nothing was read: without a record, an instance that goes on assumes the worst. */
  record(): void {
    if (this.#isRecorded) return;
    this.#isRecorded = true;
    this.#onGrown(this);
  }

  /** The calls that a person was asked about. */
  get asked(): ReadonlyMap<string, Label> {
    return this.#asked;
  }

  /** Remembers what was read before a call that a person is asked about: with other facts the answer is void. */
  ask(toolCallId: string, read: Label): void {
    this.#asked.set(toolCallId, read);
    this.#onGrown(this);
  }

  /** What was read before the model wrote the call. */
  readBefore(toolCallId: string): Label {
    return this.#asked.get(toolCallId) ?? this.#read;
  }

  /** What was read before a call that a person was asked about in an earlier run; where that is not known, anybody's words. */
  askedBefore(toolCallId: string): Label {
    return this.#asked.get(toolCallId) ?? unlabelled;
  }

  /** How many calls this run has made. */
  get callCount(): number {
    return this.#called.length;
  }

  /** How often each tool was called, when the run had made so many calls. */
  callsUntil(callCount: number): Readonly<Record<string, number>> {
    const calls = Object.fromEntries(this.#callsBefore);
    for (const id of this.#called.slice(0, callCount)) calls[id] = (calls[id] ?? 0) + 1;
    return calls;
  }

  /** Counts a call. */
  count(toolId: string): void {
    this.#called.push(toolId);
    this.#calls.set(toolId, (this.#calls.get(toolId) ?? 0) + 1);
  }
}

/** The label that a stored item has beside what its source says: that of the run which has stored it. */
export const storedLabel = {
  write: ({ from }: Label): Readonly<Record<string, string>> =>
    from.length > 0 ? { 'pinnace.from': from.join(' ') } : {},
  read(metadata: Readonly<Record<string, unknown>>): Label {
    const from = metadata['pinnace.from'];
    return typeof from === 'string' ? labelOf(from.split(' '), 'principal') : trusted;
  },
} as const;

/** The types of tools whose outputs are written by others, unless their definition says otherwise. */
const strangers: ReadonlySet<ToolDefinition['type']> = new Set(['mcp', 'http', 'provider', 'agent']);

/** Our own: they compute, or say themselves of what sources an output is. */
const own: ReadonlySet<ToolDefinition['type']> = new Set(['builtin', 'datastore']);

/** The source of a tool's outputs. An MCP tool has that of its server. */
export function sourceOf({ id, type }: Pick<Labelled, 'id' | 'type'>): string {
  if (type === 'mcp') return `mcp:${id.split('__')[0] ?? id}`;
  return type === 'agent' ? `agent:${id}` : `tool:${id}`;
}

/**
 * Returns the label of an output: what the tool reads, with the label of its input. A tool in code that does not say what it reads
 * counts as a stranger's in a guarded agent alone.
 */
export function outputLabel(definition: Labelled, input: Label, trust: Trust = 'guarded'): Label {
  const { type, reads, annotations } = definition;
  if (reads === 'trusted') return narrow(join(input, forTenant));
  const isStranger = reads !== undefined || strangers.has(type) || definition.id === 'fetch_url';
  const onlyComputes = annotations?.openWorldHint === false || own.has(type) || trust !== 'guarded';
  return onlyComputes && !isStranger ? input : join(input, ownLabel(definition));
}

const forTenant = labelOf([], 'tenant');

/** By definition: each call of a tool asks for it. */
const ownLabels = new WeakMap<Labelled, Label>();

/** The label of what the tool itself says. */
function ownLabel(definition: Labelled): Label {
  const known = ownLabels.get(definition);
  if (known) return known;
  const { id, type, reads } = definition;
  const isStranger = reads === 'untrusted' || strangers.has(type) || id === 'fetch_url';
  const readers = reads === 'private' ? 'principal' : isStranger ? readersOf(definition) : 'tenant';
  const label = labelOf([sourceOf(definition)], readers);
  ownLabels.set(definition, label);
  return label;
}

/** A page or an API that anyone can read without a secret tells nobody's secrets. */
function readersOf({ id, type, ...tool }: Labelled & { readonly secrets?: readonly unknown[] }): Readers {
  if (type === 'agent') return 'principal';
  const isPublic = id === 'fetch_url' || (type === 'http' && tool.secrets?.length === 0);
  return isPublic ? 'public' : 'tenant';
}

/** Whether a call of the tool may change something. */
function mayAct({ annotations }: Pick<Labelled, 'annotations'>): boolean {
  return annotations?.readOnlyHint !== true;
}

/** Who can see what is put into a call. */
export function readersOfInput(
  { type, annotations, sends }: Pick<Labelled, 'type' | 'annotations' | 'sends'>,
): Readers {
  if (sends !== undefined) return sends;
  const isOpen = annotations?.openWorldHint;
  if (mayAct({ annotations })) return isOpen === false ? 'tenant' : 'public';
  return isOpen === true && type !== 'mcp' ? 'public' : 'tenant'; // the operator has added the server
}

/** A call as its facts are made. */
interface FactsOfCall {
  readonly definition: Labelled & Pick<ToolDefinition, 'destinations' | 'config'>;
  readonly input: unknown;
  /** Those of a program's call. */
  readonly facts: CallFacts | undefined;
  readonly run: RunFacts;
  /** What the run had read when the model wrote the call. */
  readonly read: Label;
}

/** Returns the label of all that is put into a call. */
export function inputLabel({ facts, read }: Pick<FactsOfCall, 'facts' | 'read'>): Label {
  return facts ? labelAt(facts, '') : read;
}

/** What a call is judged by. What has to look at each value is made when it is read, once. */
export class JudgedCall {
  readonly call: FactsOfCall;
  readonly leaks: boolean;
  readonly #countBefore: number;
  #calls: CallContextFacts['calls'] | undefined;
  #args: CallContextFacts['args'] | undefined;
  #destinations: readonly string[] | undefined;
  #leaves: readonly Leaf[] | undefined;

  constructor(call: FactsOfCall) {
    this.call = call;
    this.leaks = doesLeak(call);
    this.#countBefore = call.run.callCount;
  }

  /** Whether the rules of a guarded program's level can say something of it: both are about a value of others, and what it does. */
  get isForGuard(): boolean {
    const { facts, definition } = this.call;
    return facts?.args.size !== 0 && (this.leaks || mayAct(definition));
  }

  get calls(): CallContextFacts['calls'] {
    return this.#calls ??= Object.freeze(this.call.run.callsUntil(this.#countBefore));
  }

  get args(): CallContextFacts['args'] {
    return this.#args ??= Object.freeze(argsOf(this.call, this.#allLeaves));
  }

  get destinations(): readonly string[] {
    return this.#destinations ??= Object.freeze(destinationsOf(this.call.definition, this.#allLeaves));
  }

  readonly #allLeaves = (): readonly Leaf[] => this.#leaves ??= leavesOf(this.call.input);
}

/** Returns the facts of a call for the permission hook. */
export function contextFacts(judged: JudgedCall): CallContextFacts {
  const { call: { definition, facts, run, read }, leaks } = judged;
  run.record(); // a decision depends on them
  return Object.freeze({
    read: read.from,
    readers: read.readers,
    acts: mayAct(definition),
    leaks,
    planned: facts?.planned === true,
    get calls() {
      return judged.calls;
    },
    get args() {
      return judged.args;
    },
    get destinations() {
      return judged.destinations;
    },
  });
}

function doesLeak(call: FactsOfCall): boolean {
  const { definition, input } = call;
  const sends = readersOfInput(definition);
  if (stricter(inputLabel(call).readers, sends) === sends) return false;
  return typeof input !== 'object' || input === null ? input !== undefined : Object.keys(input).length > 0;
}

/** Of a model's call, one label stands for all arguments, unless the user has said some of them. */
function argsOf({ facts, run, read, input }: FactsOfCall, leaves: () => readonly Leaf[]): CallContextFacts['args'] {
  if (facts) return facts.args.size === 0 ? none : Object.fromEntries(facts.args); // only what is not trusted is listed
  if (read === trusted || isEmpty(input)) return none;
  if (!hasSaid(input, run.words)) return wholeOf(read);
  const isOther = ([, value]: Leaf): boolean => typeof value !== 'string' || !run.words.include(value);
  return Object.fromEntries(leaves().filter(isOther).map(([pointer]) => [pointer, read]));
}

const none: CallContextFacts['args'] = Object.freeze({});

/** By label: most calls of a run have the same. */
const wholes = new WeakMap<Label, CallContextFacts['args']>();

function wholeOf(label: Label): CallContextFacts['args'] {
  let whole = wholes.get(label);
  if (!whole) wholes.set(label, whole = Object.freeze({ '': label }));
  return whole;
}

/** Whether there is no value in it. */
function isEmpty(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return input === undefined;
  for (const key in input) if (!isEmpty((input as Readonly<Record<string, unknown>>)[key])) return false; // no list of keys
  return true;
}

/** Whether the user has said some text in it. */
function hasSaid(input: unknown, words: SaidWords): boolean {
  if (typeof input === 'string') return words.include(input);
  if (typeof input !== 'object' || input === null) return false;
  for (const key in input) if (hasSaid((input as Readonly<Record<string, unknown>>)[key], words)) return true; // as above
  return false;
}

/** Writes facts for an event: fields of the input by the sources of their values. Never a value, nor a name that a model has made. */
export function noteOfFacts(
  { call: { read, definition }, leaks, args, destinations }: JudgedCall,
  fields: readonly string[],
) {
  const placeOf = (pointer: string): string =>
    pointer === '' ? '' : fields.find((field) => overlaps(field, pointer)) ?? '';
  const to = destinations.length > 0 ? JSON.stringify([...new Set(destinations.map(placeOf))]) : undefined;
  const places = args === none ? undefined : args === wholeOf(read) ? allAsRead : noteOfArgs(args, placeOf);
  const known = read === trusted ? undefined : { read: textOf(read.from), readers: read.readers };
  return { ...known, acts: mayAct(definition), leaks: leaks || undefined, to, args: places };
}

/** In the note of a call: each argument may be from all that was read. */
export const allAsRead = '*';

/** An event has room for so much; what is longer may be from anybody, so that no rule that is tried on it misses a source. */
const longestNote = 300;
/** By sources, which calls of a run share. */
const texts = new WeakMap<object, string>();

function textOf(sources: readonly string[]): string {
  if (sources.length === 0) return '';
  let text = texts.get(sources);
  if (text === undefined) {
    text = sources.join(' ');
    texts.set(sources, text = text.length > longestNote ? '*' : text);
  }
  return text;
}

function noteOfArgs(args: CallContextFacts['args'], placeOf: (pointer: string) => string): string | undefined {
  const places: Record<string, string[]> = {};
  for (const [pointer, { from, narrow: isNarrow }] of Object.entries(args)) {
    if (from.length === 0) continue;
    const at = places[`${textOf(from)}${isNarrow ? ' ?' : ''}`] ??= [];
    if (!at.includes(placeOf(pointer))) at.push(placeOf(pointer));
  }
  if (Object.keys(places).length === 0) return undefined;
  const text = JSON.stringify(places);
  return text.length > longestNote ? '{"*":[""]}' : text;
}

/** The most leaves of which each has its own entry; those behind share that of the whole. */
const mostLeaves = 256;

type Leaf = readonly [pointer: string, value: unknown];

/** The values of an input that are no lists or objects, with their JSON Pointers. */
function leavesOf(input: unknown): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null || leaves.length >= mostLeaves) {
      if (value !== undefined) leaves.push([leaves.length >= mostLeaves ? '' : pointer, value]);
      return;
    }
    const record = value as Readonly<Record<string, unknown>>; // lists have keys as well
    for (const key of Object.keys(record)) {
      visit(record[key], key.includes('~') || key.includes('/') ? pointerBelow(pointer, key) : `${pointer}/${key}`);
    }
  };
  visit(input, '');
  return leaves;
}

/** The arguments that say where or to whom: those that the tool names, or every text of one that may act or sends further. */
function destinationsOf(
  { destinations, ...definition }: FactsOfCall['definition'],
  leaves: () => readonly Leaf[],
): string[] {
  if (destinations) return [...destinations];
  if (definition.id === 'fetch_url') return ['/url'];
  if (!mayAct(definition) && definition.annotations?.openWorldHint !== true) return [];
  return leaves().filter(([, value]) => typeof value === 'string').map(([pointer]) => pointer);
}

/** Shorter words stand in a message by chance. */
const leastSaid = 4;

/** What the caller has said last: a value whose words stand in it, one behind the other, as they are, is the caller's. */
class SaidWords {
  readonly #text: string;
  /** The plain characters that words start with: most values do not start with one of them. */
  readonly #starts = new Uint8Array(128);

  constructor(text: string) {
    this.#text = wordsOf(text);
    for (let at = 0; at < this.#text.length; at++) {
      if (this.#startsAt(at)) this.#starts[this.#text.charCodeAt(at)] = 1;
    }
  }

  include(value: string): boolean {
    if (value.length < leastSaid || value.length > 2 * this.#text.length) return false;
    const first = value.charCodeAt(0);
    // No mark that follows can change a plain character before another one.
    if (isPlain(first) && isPlain(value.charCodeAt(1)) && this.#starts[first] === 0) return false;
    const words = wordsOf(value);
    if (words.length < leastSaid) return false;
    for (let at = this.#text.indexOf(words); at >= 0; at = this.#text.indexOf(words, at + 1)) {
      const behind = this.#text.slice(at + words.length, at + words.length + 8);
      if (this.#startsAt(at) && /^[\s"'“”‘’«»)\]}>.,;:!?…]*(?:\s|$)/u.test(behind)) return true;
    }
    return false;
  }

  #startsAt(at: number): boolean {
    return /^[\s"'“”‘’«»([{<]?$/u.test(this.#text.slice(Math.max(0, at - 1), at));
  }
}

/** A visible character of ASCII. */
function isPlain(code: number): boolean {
  return code > 32 && code < 127;
}

function wordsOf(text: string): string {
  if (!/[^!-~ ]|^ | {2}| $/.test(text)) return text; // nothing to normalize
  return text.normalize('NFKC').trim().replace(/\s+/gu, ' ');
}

/** The thoughts of an answer, where servers put them elsewhere than the AI SDK's parser looks for them. */

import { asRecord, isRecord } from '../../src/base/is-record.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The marks of models and servers, opening and closing. */
const marks: readonly (readonly [string, string])[] = [
  ...['think', 'thinking', 'thought', 'seed:think'].map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
];

/** Thoughts that a server leaves at the start of the text, between marks that may come in pieces. */
export class LeadingThoughts {
  /** `undefined` until the text has started. */
  #isOpen: boolean | undefined;
  #closing = '';
  #held = '';
  #hasThought = false;

  /** Whether all that follows is text. */
  get isOver(): boolean {
    return this.#isOpen === false;
  }

  /** Splits what comes next; with `isLast`, nothing is held for its rest. */
  split(text: string, { isLast = false } = {}): { readonly thoughts: string; readonly said: string } {
    let rest = this.#held + text;
    this.#held = '';
    if (this.#isOpen === undefined) {
      const start = rest.trimStart();
      const [opening = '', closing = ''] = marks.find(([mark]) => start.startsWith(mark)) ?? [];
      if (!isLast && opening === '' && marks.some(([mark]) => mark.startsWith(start))) return this.#hold(rest);
      this.#isOpen = opening !== '';
      this.#closing = closing;
      if (this.#isOpen) rest = start.slice(opening.length);
    }
    const closing = this.#closing;
    if (!this.#isOpen) return { thoughts: '', said: rest };
    const end = rest.indexOf(closing);
    if (end >= 0) this.#isOpen = false;
    else if (!isLast) this.#held = rest.slice(rest.length - overlap(rest, closing));
    const all = end >= 0 ? rest.slice(0, end) : rest.slice(0, rest.length - this.#held.length);
    const thoughts = this.#hasThought ? all : all.trimStart();
    this.#hasThought ||= thoughts !== '';
    return { thoughts, said: end >= 0 ? rest.slice(end + closing.length).trimStart() : '' };
  }

  #hold(text: string): { readonly thoughts: string; readonly said: string } {
    this.#held = text;
    return { thoughts: '', said: '' };
  }
}

/** How many of its last characters a text shares with the start of a mark. */
function overlap(text: string, mark: string): number {
  let length = Math.min(text.length, mark.length - 1);
  while (!text.endsWith(mark.slice(0, length))) length--;
  return length;
}

/** Stands before details in the one field of a call that the AI SDK's package stores and sends back. */
const marked = 'reasoning_details:';

/**
 * The signed and encrypted thoughts of OpenRouter. Models behind it refuse a call that comes back without them, so they travel with the
 * first call of their answer.
 */
export class ReasoningDetails {
  readonly #details: Record<string, unknown>[] = [];
  /** An event that opens the first call: what belongs to it may be in the next one. */
  #opener: JsonObject | undefined;
  #isAttached = false;

  /** Returns the events that may go on: the one that opens a call waits for the next. */
  take(event: string): readonly string[] {
    const value = asRecord(JSON.parse(event));
    const ready = this.#opener;
    const details = deltaOf(value)['reasoning_details'];
    for (const detail of Array.isArray(details) ? details.filter(isRecord) : []) this.#add(detail);
    this.#opener = undefined;
    const isOpener = !this.#isAttached && !ready &&
      callsOf(value).some(({ function: called }) => asRecord(called)['name']);
    if (isOpener) this.#opener = value;
    return [...ready ? [this.#attached(ready)] : [], ...isOpener ? [] : [event]];
  }

  /** Returns the event that waits; none is added after it. */
  rest(): readonly string[] {
    const last = this.#opener;
    this.#opener = undefined;
    return last ? [this.#attached(last)] : [];
  }

  /** Texts come in pieces. */
  #add(detail: JsonObject): void {
    const last = this.#details.at(-1);
    const isPiece = last !== undefined && last['type'] === detail['type'] && last['index'] === detail['index'] &&
      (typeof detail['text'] === 'string' || typeof detail['summary'] === 'string');
    if (!isPiece) return void this.#details.push({ ...detail });
    for (const [name, value] of Object.entries(detail)) {
      const isText = (name === 'text' || name === 'summary') && typeof last[name] === 'string' &&
        typeof value === 'string';
      if (isText) last[name] = `${last[name] as string}${value}`; // just seen to be text
      else if (value !== null) last[name] = value;
    }
  }

  #attached(event: JsonObject): string {
    if (this.#details.length === 0) return JSON.stringify(event);
    this.#isAttached = true;
    const [first, ...others] = callsOf(event);
    const google = { thought_signature: `${marked}${JSON.stringify(this.#details)}` };
    const calls = [{ ...first, extra_content: { google } }, ...others];
    const [choice] = event['choices'] as readonly JsonObject[]; // it has calls
    return JSON.stringify({ ...event, choices: [{ ...choice, delta: { ...deltaOf(event), tool_calls: calls } }] });
  }
}

function deltaOf({ choices }: JsonObject): JsonObject {
  return asRecord(asRecord(Array.isArray(choices) ? choices[0] : undefined)['delta']);
}

function callsOf(event: JsonObject): readonly JsonObject[] {
  const { tool_calls: calls } = deltaOf(event);
  return Array.isArray(calls) ? calls.map(asRecord) : [];
}

/** Returns the request with the details of its answers where OpenRouter takes them. */
export function withReasoningDetails(body: string): string {
  if (!body.includes(`"${marked}`)) return body;
  const request = asRecord(JSON.parse(body));
  const messages = request['messages'];
  if (!Array.isArray(messages)) return body;
  return JSON.stringify({ ...request, messages: messages.map(asRecord).map(withDetails) });
}

function withDetails(message: JsonObject): JsonObject {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  const signatures = calls.map((call) =>
    asRecord(asRecord(asRecord(call)['extra_content'])['google'])['thought_signature']
  );
  const found = signatures.find((one): one is string => typeof one === 'string' && one.startsWith(marked));
  if (found === undefined) return message;
  const plain = calls.map(asRecord).map(({ extra_content: _, ...call }) => call);
  return { ...message, reasoning_details: JSON.parse(found.slice(marked.length)), tool_calls: plain };
}

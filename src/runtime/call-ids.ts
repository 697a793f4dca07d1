/**
 * The ids of tool calls. The id that a provider gives belongs to one step: some number their calls from 0 in every answer. Inside, in
 * the stream and in stored chats, a call has an id that is unique in its chat. A provider's id that is unique stays; a repeated one
 * gets a number behind it, which `providerCallId` removes, so that the provider receives its own id back.
 */

import type { UIMessage } from '../contracts/ai-types.ts';

/** What follows the id of a provider that is taken: the second `call_0` is `call_0~2`. */
const number = /~\d+$/;

/** Gateways write signatures into ids; what is longer gets a short one. */
const maxLength = 16_384;

/** Returns the id that the provider gave the call. */
export function providerCallId(toolCallId: string): string {
  return toolCallId.replace(number, '');
}

/** The options of a part that another provider than the next one has made. They are sent to none. */
export const foreignCall = { pinnace: { isForeign: true } } as const;

/** A message for a model, or a provider's form of one. */
interface MessageWithCalls {
  readonly content: string | readonly { readonly type: string; readonly toolCallId?: unknown }[];
}

/** Returns the ids of the calls in these messages, in their order. */
export function callIdsIn(messages: readonly (MessageWithCalls | Pick<UIMessage, 'parts'>)[]): string[] {
  return messages.flatMap((message) => {
    const parts = 'parts' in message ? message.parts : message.content;
    if (typeof parts === 'string') return [];
    return parts.flatMap((part) =>
      'toolCallId' in part && typeof part.toolCallId === 'string' ? [part.toolCallId] : []
    );
  });
}

/** The ids of the calls of one chat. */
export class CallIds {
  readonly #known: () => Iterable<string>;
  #taken: Set<string> | undefined;
  /** The last call of each id of the provider. */
  readonly #last = new Map<string, string>();

  /** `known` returns the ids of earlier calls; it is called with the first call. */
  constructor(known: () => Iterable<string>) {
    this.#known = known;
  }

  /** Returns an id for a new call. `given` is that of its provider. */
  take(given: string): string {
    const taken = this.#load();
    const own = given.toWellFormed();
    const id = this.#isUsable(own) ? unused(taken, own) : fresh(taken);
    taken.add(id);
    this.#last.set(given, id);
    return id;
  }

  /** The last call to which the provider gave this id. */
  last(given: string): string {
    this.#load();
    return this.#last.get(given) ?? given;
  }

  /** The calls inside of a program have its id, a slash and their number. */
  #isUsable(own: string): boolean {
    if (own === '' || own.length > maxLength) return false;
    for (let at = own.indexOf('/'); at >= 0; at = own.indexOf('/', at + 1)) {
      if (this.#load().has(own.slice(0, at))) return false;
    }
    return true;
  }

  #load(): Set<string> {
    if (this.#taken) return this.#taken;
    this.#taken = new Set(this.#known());
    for (const id of this.#taken) this.#last.set(providerCallId(id), id);
    return this.#taken;
  }
}

/** An id that ends with a number of its own always gets another one: removing that leaves the id. */
function unused(taken: ReadonlySet<string>, own: string): string {
  const isNumbered = number.test(own);
  if (!isNumbered && !taken.has(own)) return own;
  for (let n = isNumbered ? 1 : 2;; n++) {
    const id = `${own}~${n}`;
    if (!taken.has(id)) return id;
  }
}

function fresh(taken: ReadonlySet<string>): string {
  for (let n = 1;; n++) {
    const id = `call_${n}`;
    if (!taken.has(id)) return id;
  }
}

interface Opened {
  readonly id: string;
  readonly toolName: string;
}

/** The calls of one step by the ids that the provider gave them, which may repeat within it. */
export class StepCallIds {
  readonly #ids: CallIds;
  readonly #open = new Map<string, Opened[]>();
  readonly #made = new Set<string>();

  constructor(ids: CallIds) {
    this.#ids = ids;
  }

  /** Whether the input of a call has started, and the call itself has not arrived. */
  get hasOpen(): boolean {
    return this.#open.values().some((opened) => opened.length > 0);
  }

  /** A call starts, whose input is streamed. */
  start(given: string, toolName: string): string {
    const opened = { id: this.#ids.take(given), toolName };
    this.#open.set(given, [...this.#open.get(given) ?? [], opened]);
    return opened.id;
  }

  /** The call whose input goes on. */
  streaming(given: string): string {
    return this.#open.get(given)?.at(-1)?.id ?? this.#ids.last(given);
  }

  /** A call is complete. */
  complete(given: string, toolName: string): string {
    const open = this.#open.get(given) ?? [];
    const at = open.findIndex((one) => one.toolName === toolName);
    const [opened] = open.splice(Math.max(at, 0), 1);
    return opened?.id ?? this.#ids.take(given);
  }

  /** Whether the step has this very call already: the same id, tool and input. It is made once. */
  isRepeated(given: string, toolName: string, input: string): boolean {
    if (given === '') return false;
    const call = JSON.stringify([given, toolName, input]);
    const isKnown = this.#made.has(call);
    this.#made.add(call);
    return isKnown;
  }

  /** The call that a provider's result is about: of this step, or of an earlier one. */
  settled(given: string): string {
    return this.#ids.last(given);
  }
}

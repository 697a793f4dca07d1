/**
 * The host's side of a program's calls. A cell is untrusted: it may send anything, in any order and amount, so each message is read
 * as data, checked against the protocol, and counted.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Delivery, FromCell, ProgramCell, ProgramOptions } from '../../src/contracts/sandbox.ts';
import { readReply } from './reply.ts';
import { checkCode, stopped, timedOut } from './sandbox.ts';

/** A started cell. */
export interface Wire {
  /** Sends one line of JSON. */
  post(text: string): void;
  /** Stops the cell. Twice equals once. */
  end(): void;
}

/** What a platform reports of its cell. */
export interface WireListener {
  /** A message of the cell, whatever it is. */
  onMessage(data: unknown): void;
  /** The cell has ended without an end in its messages. */
  onFailure(error: PinnaceError): void;
}

export interface ProgramPlatform {
  /** Starts a cell whose prelude waits for its settings. */
  start(code: string, listener: WireListener): Promise<Wire>;
  /** Whether the settings carry the code; without it, `start` has loaded it. */
  readonly sendsCode: boolean;
  /** The number of lines before the code in its module. */
  readonly linesBefore: number;
}

/** The most calls without an outcome. The prelude sends 16: more is a cell that does not use it. */
const maxUnanswered = 64;
/** The longest text between two deliveries, in UTF-16 code units. */
export const maxMessageLength = 1_048_576;

export async function openProgram(
  platform: ProgramPlatform,
  code: string,
  options: ProgramOptions,
): Promise<ProgramCell> {
  checkCode(code);
  const { signal, seed, at, recorded, handles, maxOutputLength = 65_536 } = options;
  const inbox = createInbox();
  const clock = createClock(options.timeoutMs, () => fail(timedOut(options.timeoutMs)));
  const reader = createReader(options, { clock, linesBefore: platform.linesBefore });
  let wire: Wire | undefined;
  const end = (): void => {
    clock.end();
    signal.removeEventListener('abort', stop);
    wire?.end();
  };
  const fail = (error: PinnaceError): void => {
    inbox.fail(error);
    end();
  };
  const stop = (): void => fail(stopped());
  if (signal.aborted) throw stopped();
  signal.addEventListener('abort', stop, { once: true });
  clock.start();
  const onMessage = (data: unknown): void => {
    if (inbox.isClosed) return;
    try {
      for (const one of reader.read(data)) inbox.push(one);
      if (reader.hasEnded) end();
    } catch (error) {
      fail(error instanceof PinnaceError ? error : abused('it is malformed'));
    }
  };
  try {
    wire = await platform.start(code, { onMessage, onFailure: fail });
  } catch (error) {
    end();
    throw error;
  }
  if (inbox.isClosed) wire.end(); // it failed while it started
  const settings = { ...(platform.sendsCode && { code }), seed, at, recorded, maxOutputLength, handles };
  wire.post(JSON.stringify([settings]));
  return {
    next: () => inbox.next(),
    deliver: createPost(wire, (delivery) => reader.delivered(delivery)),
    end() {
      inbox.fail(stopped());
      end();
    },
  };
}

/** Deliveries of one task are sent together. */
function createPost(wire: Wire, onDelivery: (delivery: Delivery) => void): ProgramCell['deliver'] {
  let texts: string[] = [];
  return (delivery) => {
    onDelivery(delivery);
    if (texts.push(JSON.stringify(delivery)) > 1) return;
    queueMicrotask(() => {
      wire.post(`[${texts.join(',')}]`);
      texts = [];
    });
  };
}

interface Inbox {
  readonly isClosed: boolean;
  push(message: FromCell): void;
  fail(error: PinnaceError): void;
  next(): Promise<FromCell>;
}

function createInbox(): Inbox {
  const messages: FromCell[] = [];
  let failure: PinnaceError | undefined;
  let wake: (() => void) | undefined;
  return {
    get isClosed() {
      return failure !== undefined;
    },
    push(message) {
      messages.push(message);
      wake?.();
    },
    fail(error) {
      failure ??= error;
      wake?.();
    },
    async next() {
      for (;;) {
        const first = messages.shift();
        if (first) return first;
        if (failure) throw failure;
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
  };
}

interface Clock {
  start(): void;
  stop(): void;
  /** Ends the clock: it never calls back any more. */
  end(): void;
}

/**
 * Counts the time between `start` and `stop`, and calls back when it is over. Its timer goes on while the clock is stopped, and is set
 * again for what is left then: a clock stops and starts with every call, and a timer for each takes longer than the message.
 */
function createClock(budgetMs: number, onOver: () => void): Clock {
  let left = budgetMs;
  let startedAt: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const count = (): void => {
    if (startedAt === undefined) return;
    const now = performance.now();
    left -= now - startedAt;
    startedAt = now;
  };
  const onTimer = (): void => {
    timer = undefined;
    if (startedAt === undefined) return; // the next start sets it again
    count();
    if (left <= 0) onOver();
    else timer = setTimeout(onTimer, left);
  };
  return {
    start() {
      if (isOver) return;
      startedAt ??= performance.now();
      timer ??= setTimeout(onTimer, Math.max(0, left));
    },
    stop() {
      count();
      startedAt = undefined;
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

interface Reader {
  readonly hasEnded: boolean;
  /** @throws PinnaceError for a message against the protocol, and for a program that failed. */
  read(data: unknown): readonly FromCell[];
  delivered(delivery: Delivery): void;
}

type ReaderOptions = Pick<ProgramOptions, 'recorded' | 'maxOutputLength'>;

function createReader(
  { recorded, maxOutputLength = 65_536 }: ReaderOptions,
  { clock, linesBefore }: { readonly clock: Clock; readonly linesBefore: number },
): Reader {
  let [last, answered, busy] = [0, recorded.length, 1];
  // A replay reports all calls at once.
  let room = maxMessageLength * Math.min(64, 1 + recorded.length);
  let hasEnded = false;
  const readOne = (given: unknown): FromCell => {
    const { t, n, tool, input, open, reply } = given as Readonly<Record<string, unknown>>; // each is checked below
    if (t === 'call' && n === last + 1 && typeof tool === 'string' && typeof input === 'string') {
      last += 1;
      if (last - answered > maxUnanswered) throw abused('it makes too many calls at once');
      return { t, n: last, tool, input };
    }
    if (typeof open !== 'number') throw abused('it is malformed');
    if (t === 'idle' && busy > 0) {
      if (--busy === 0) clock.stop();
      return { t, open };
    }
    if (t !== 'end') throw abused('it is out of order');
    hasEnded = true;
    return { t, open, output: readReply(reply, { maxOutputLength, linesBefore }) };
  };
  return {
    get hasEnded() {
      return hasEnded;
    },
    read(data) {
      if (typeof data !== 'string') throw abused('it is no text');
      if ((room -= data.length) < 0) throw abused('it is too long');
      const list: unknown = mayReachPrototype.test(data) ? JSON.parse(data, withoutPrototype) : JSON.parse(data);
      if (!Array.isArray(list)) throw abused('it is no list');
      const found: FromCell[] = [];
      for (const one of list) {
        if (hasEnded) break;
        found.push(readOne(one ?? {}));
      }
      return found;
    },
    delivered() {
      answered += 1;
      busy += 1;
      room = maxMessageLength;
      clock.start();
    },
  };
}

/** An escape may hide the name. Few messages have either, and a function for each value takes several times as long. */
const mayReachPrototype = /__proto__|\\u/;

/** A key with this name changes the object that it is copied into. */
function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}

/** The error of a cell that does not keep to the protocol. */
export function abused(why: string): PinnaceError {
  return new PinnaceError('budget_exceeded', `The program was stopped: it abused its connection to the tools; ${why}`, {
    details: { reason: 'bridge_abused' },
  });
}

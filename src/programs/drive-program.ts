/** Connects a cell with its calls: receives each call, delivers outcomes one by one, and finds out when nothing can go on. */

import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { canonicalJson, parseRepairedJson } from '../base/json.ts';
import type { Delivery, FromCell, ProgramCell } from '../contracts/sandbox.ts';
import type { Label } from '../permission/label.ts';
import type { Outcome, ProgramJournal, ProgramPast } from './program-record.ts';

/** The most calls of a program, waits included. */
const maxProgramCalls = 1_000;

/** The most text of all inputs of a program: each is parsed and hashed, whatever becomes of its call. */
const maxInputsLength = 16_777_216;

/** A call of a program. */
export interface ProgramCall {
  readonly n: number;
  readonly tool: string;
  /** SHA-256 of the tool and the canonical input. */
  readonly digest: string;
  /** The input, or why it cannot be read. */
  readonly input: { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly error: PinnaceError };
}

/** The outcome of a call without its number. */
export type CallResult =
  | { readonly ok: true; readonly output: unknown; readonly handle?: string; readonly label?: Label }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** What became of a call: an outcome, or a question to a person. */
export type MadeCall<Ask> = { readonly result: CallResult } | { readonly ask: Ask };

/** What makes the calls. */
export interface CallMaker<Ask> {
  /** Takes each call when the program makes it, in their order. */
  received(call: ProgramCall): void;
  /** Rejects when the program must end. `isRecorded`: the call was made before, and its outcome is delivered. */
  make(call: ProgramCall): Promise<MadeCall<Ask>>;
  /** Takes a call whose outcome was recorded. */
  replayed(call: ProgramCall, result: CallResult): void;
  /** Stops the calls that only read. */
  stopReads(): void;
}

/** The end of a program that did not fail. */
type ProgramEnd<Ask> = { readonly output: unknown } | { readonly asks: readonly Ask[] };

/** What a program is driven with. */
interface DriveOptions<Ask> {
  readonly cell: ProgramCell;
  readonly past: ProgramPast;
  readonly calls: CallMaker<Ask>;
  readonly journal: Pick<ProgramJournal, 'out'>;
}

/** Drives a program to its end, or until all of its open calls wait for a person. Rejects with its error. */
export async function driveProgram<Ask>(options: DriveOptions<Ask>): Promise<ProgramEnd<Ask>> {
  const { cell, calls } = options;
  const work = createWork(options);
  try {
    for (;;) {
      const message = await cell.next();
      if (message.t === 'call') work.call(message);
      else if (message.t === 'idle') work.idle();
      else if (message.open === 0) return { output: message.output };
      else throw openCalls(message.open);
    }
  } catch (error) {
    if (!work.stop) throw error;
    if ('error' in work.stop) throw work.stop.error;
    return work.stop;
  } finally {
    work.close();
    cell.end();
    calls.stopReads();
    await work.settled(); // side effects that have started are recorded
  }
}

interface Work<Ask> {
  /** Why the program was ended by its host. */
  readonly stop: { readonly error: unknown } | { readonly asks: readonly Ask[] } | undefined;
  call(message: Extract<FromCell, { t: 'call' }>): void;
  idle(): void;
  close(): void;
  settled(): Promise<unknown>;
}

function createWork<Ask>({ cell, past, calls, journal }: DriveOptions<Ask>): Work<Ask> {
  const known = createPast(past);
  const running = new Map<number, Promise<void>>();
  const asks: Ask[] = [];
  const held: ProgramCall[] = [];
  let stop: Work<Ask>['stop'];
  let [busy, last, inputsLength, isReplaying, isClosed] = [1, 0, 0, known.size > 0, false];
  const end = (how: NonNullable<typeof stop>): void => {
    stop ??= how;
    cell.end();
  };
  const settle = (outcome: Outcome, digest: string): void => {
    journal.out(outcome, digest);
    if (isClosed || stop) return;
    busy += 1;
    cell.deliver(deliveryOf(outcome));
  };
  /** Nothing moves any more: the program waits for people, or for nothing. */
  const check = (): void => {
    if (busy === 0 && running.size === 0) end(asks.length > 0 ? { asks } : { error: stalled() });
  };
  const make = async (call: ProgramCall): Promise<void> => {
    try {
      const made = await calls.make(call);
      running.delete(call.n);
      if ('result' in made) return settle({ n: call.n, ...made.result }, call.digest);
      asks.push(made.ask);
      check();
    } catch (error) {
      end({ error });
    }
  };
  const start = (call: ProgramCall): void => void running.set(call.n, make(call));
  return {
    get stop() {
      return stop;
    },
    call(message) {
      if ((inputsLength += message.input.length) > maxInputsLength) return end({ error: inputsTooLong() });
      const call = readCall(message);
      if ((last = call.n) > maxProgramCalls) return end({ error: tooManyCalls() });
      const digest = known.digestOf(call.n);
      if (digest !== undefined && digest !== call.digest) return end({ error: diverged() });
      calls.received(call);
      const out = known.outOf(call.n);
      if (out) calls.replayed(call, out);
      else if (isReplaying) held.push(call); // a later call may differ from its record: nothing runs before all are checked
      else start(call);
    },
    idle() {
      busy -= 1;
      if (isReplaying && known.last > last) return end({ error: diverged() });
      isReplaying = false;
      for (const call of held.splice(0)) start(call);
      check();
    },
    close: () => void (isClosed = true),
    settled: () => Promise.all(running.values()),
  };
}

/** What the cell gets of an outcome: where it has a handle, not the value. */
export function deliveryOf(outcome: Outcome): Delivery {
  if (!outcome.ok) return { n: outcome.n, ok: false, code: outcome.code, message: outcome.message };
  const { n, handle, output } = outcome;
  return handle === undefined ? { n, ok: true, output } : { n, ok: true, handle };
}

function createPast({ outs, begun, asked }: ProgramPast) {
  const outOf = new Map(outs.map((out) => [out.n, out]));
  const numbers = [...outOf.keys(), ...begun.keys(), ...asked.keys()];
  return {
    size: numbers.length,
    last: Math.max(0, ...numbers),
    outOf: (n: number) => outOf.get(n),
    digestOf: (n: number) => outOf.get(n)?.digest ?? begun.get(n) ?? asked.get(n)?.digest,
  };
}

function readCall({ n, tool, input: text }: Extract<FromCell, { t: 'call' }>): ProgramCall {
  try {
    const data = parseRepairedJson(text);
    return { n, tool, digest: sha256Sync(`${tool}\n${canonicalJson(data)}`), input: { ok: true, data } };
  } catch (error) {
    return { n, tool, digest: sha256Sync(`${tool}\n${text}`), input: { ok: false, error: toPinnaceError(error) } };
  }
}

function diverged(): PinnaceError {
  return new PinnaceError('conflict', 'Cannot go on with the program: it did not make the calls that it made before', {
    retryable: false,
    details: { reason: 'program_diverged' },
  });
}

function stalled(): PinnaceError {
  return new PinnaceError('internal', 'The program was stopped: it waits for something that never happens', {
    details: { reason: 'program_stalled' },
  });
}

function openCalls(count: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `The program ended before ${count} of its calls; await every call, also those that may fail`,
    { details: { reason: 'open_calls' } },
  );
}

function inputsTooLong(): PinnaceError {
  const message = `The program was stopped: the inputs of its calls are longer than ${maxInputsLength} together`;
  return new PinnaceError('budget_exceeded', message, { details: { reason: 'program_inputs' } });
}

function tooManyCalls(): PinnaceError {
  return new PinnaceError('budget_exceeded', `The program was stopped: it made more than ${maxProgramCalls} calls`, {
    details: { reason: 'program_calls' },
  });
}

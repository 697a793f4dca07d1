/** Streams of models: counted while they are open, and cut by faults. */

import { type ErrorCode, PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import type { Chance } from './chance.ts';

export interface OpenStreams {
  count: number;
}

/** Returns the same stream, counted until it is read to its end or canceled. */
export function counted<T>(stream: ReadableStream<T>, open: OpenStreams): ReadableStream<T> {
  const reader = stream.getReader();
  let isOpen = true;
  open.count += 1;
  const close = (): void => {
    if (isOpen) open.count -= 1;
    isOpen = false;
  };
  return new ReadableStream<T>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        close();
        controller.close();
      } catch (error) {
        close();
        controller.error(error);
      }
    },
    async cancel(reason) {
      close();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

/** How a stream ends early: it ends, says nothing more, or fails. */
type EarlyEnd = 'ends' | 'stalls' | Error;

function endingEarly<T>(parts: readonly T[], end: EarlyEnd): ReadableStream<T> {
  let next = 0;
  return new ReadableStream<T>({
    async pull(controller) {
      const part = parts[next++];
      if (part !== undefined) return controller.enqueue(part);
      if (end === 'stalls') return await new Promise<void>(() => undefined);
      if (end === 'ends') controller.close();
      else controller.error(end);
    },
  }, { highWaterMark: 0 });
}

export async function readAll<T>(stream: ReadableStream<T>): Promise<readonly T[]> {
  const items: T[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) items.push(next.value);
  return items;
}

/** What happens in place of a call of a port. */
export type FaultStrike = (call: StruckCall) => unknown;

/**
 * Something that goes wrong at one call of a port.
 *
 * @example
 * const slowSearch: Fault = {
 *   name: 'search takes a minute',
 *   at: /^tool\.search /,
 *   strike: async ({ go }) => {
 *     await new Promise((resolve) => setTimeout(resolve, 60_000));
 *     return await go();
 *   },
 * };
 */
export interface Fault {
  /** Unique among the faults of a simulation. */
  readonly name: string;
  /** Matches the steps that it may strike, as `storage.commit 4`. */
  readonly at: RegExp;
  readonly strike: FaultStrike;
  /** It strikes every later step as well that `at` matches, until the requests of the first instance are over. */
  readonly lasts?: true;
}

/** A call that a fault strikes. */
export interface StruckCall {
  /** As `storage.commit 4`. */
  readonly step: string;
  readonly args: readonly unknown[];
  /** Calls the port, and returns its answer. */
  readonly go: () => Promise<unknown>;
  readonly chance: Chance;
  /** A text for errors and answers, which must come out nowhere. */
  readonly canary: string;
  readonly instance: StruckInstance;
}

/** The instance whose call is struck. */
export interface StruckInstance {
  /** Kills it: nothing that it does has any effect from now on. */
  readonly kill: () => void;
  /** Moves its clock, and no other. */
  readonly jump: (ms: number) => void;
  /** Aborts the requests of its client. */
  readonly stop: AbortController;
}

/** Decides at each step what happens in place of the call; `undefined`: the call itself. */
export type Scheduler = (step: string) => ((call: Pick<StruckCall, 'step' | 'args' | 'go'>) => unknown) | undefined;

/** Never answers. */
export const silent: FaultStrike = () => new Promise<never>(() => undefined);

/** Does the work this many milliseconds later. */
export function later(ms: number): FaultStrike {
  return async ({ go }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return await go();
  };
}

/** Rejects with an error of Pinnace. */
export function fails(code: ErrorCode, reason: string): FaultStrike {
  return ({ canary }) =>
    Promise.reject(new PinnaceError(code, 'No', { details: { reason }, cause: new Error(canary) }));
}

/** Throws before it returns a promise. */
export const throws: FaultStrike = ({ canary }) => {
  throw new Error(canary);
};

export const rejects: FaultStrike = ({ canary, chance }) =>
  Promise.reject(
    chance.of<unknown>([
      new Error(canary),
      canary,
      undefined,
      { code: canary, message: canary },
      new TypeError(canary),
      new TypeError(`fetch failed: ${canary}`),
    ]),
  );

export function answers(...values: readonly unknown[]): FaultStrike {
  return ({ chance }) => Promise.resolve(chance.of(values));
}

/** Answers with something else than the port does. */
export const garbage: FaultStrike = ({ chance, canary }) =>
  Promise.resolve(chance.of<unknown>([{}, 7, canary, { id: canary }]));

/** Does the work, and its answer is lost. */
export const losesAnswer: FaultStrike = async ({ go, canary }) => {
  await go();
  throw outOfReach(canary);
};

/** Does the work twice, as a storage does that repeats what it got no answer for. */
export const repeats: FaultStrike = async ({ go }) => (await go(), await go());

/** Is out of reach for so long, whatever it is asked. For faults that last. */
export function away(ms: number): FaultStrike {
  const isBack = new WeakMap<StruckInstance, boolean>();
  return ({ instance, go, canary }) => {
    if (!isBack.has(instance)) setTimeout(() => isBack.set(instance, true), ms);
    if (isBack.get(instance)) return go();
    isBack.set(instance, false);
    return Promise.reject(outOfReach(canary));
  };
}

function outOfReach(canary: string): PinnaceError {
  return new PinnaceError('unavailable', 'No', { details: { reason: 'storage_blocked' }, cause: new Error(canary) });
}

/** Moves the clock of the instance. */
export function jumps(ms: number): FaultStrike {
  return ({ instance, go }) => {
    instance.jump(ms);
    return go();
  };
}

/** Kills the instance before the call. */
export function kills({ instance }: StruckCall): Promise<never> {
  instance.kill();
  return new Promise(() => undefined);
}

/** Kills the instance when the call is done. */
export async function killsBehind(call: StruckCall): Promise<unknown> {
  await call.go();
  return await kills(call);
}

/** Cancels the requests of the client. */
export function stops({ instance, go }: StruckCall): Promise<unknown> {
  instance.stop.abort('user');
  return go();
}

/** Each strike on an instance is the next of these, and the last from then on. */
export function inTurn<C extends StruckCall>(...strikes: readonly ((call: C) => unknown)[]): (call: C) => unknown {
  const counts = new WeakMap<StruckInstance, number>();
  return (call) => {
    const count = counts.get(call.instance) ?? 0;
    counts.set(call.instance, count + 1);
    return strikes[Math.min(count, strikes.length - 1)]?.(call);
  };
}

/** An error as the AI SDK's `APICallError`. */
function apiError(statusCode: number, responseHeaders: Record<string, string> = {}): FaultStrike {
  return ({ canary }) => {
    const facts = { statusCode, responseHeaders, url: `https://models.example/${canary}`, responseBody: canary };
    return Promise.reject(Object.assign(new Error(canary), { name: 'AI_APICallError', ...facts }));
  };
}

/** The stream ends early, somewhere in its middle. */
function cut(end: (canary: string) => EarlyEnd): FaultStrike {
  return async ({ go, chance, canary }) => {
    const answer = await go();
    if (!isRecord(answer) || !(answer['stream'] instanceof ReadableStream)) return answer;
    const parts: readonly unknown[] = await readAll(answer['stream']);
    const shown = Math.min(2 + chance.below(Math.max(1, parts.length - 3)), parts.length - 1);
    return { ...answer, stream: endingEarly(parts.slice(0, shown), end(canary)) };
  };
}

/** Answers with one error in its stream. */
const reportsError: FaultStrike = () =>
  Promise.resolve({ stream: endingEarly([{ type: 'error', error: { message: 'Overloaded', code: 503 } }], 'ends') });

const modelUnreachable: FaultStrike = ({ canary }) => Promise.reject(new TypeError(`fetch failed: ${canary}`));
const at = /^model\.call /;

const modelFaults: readonly Fault[] = [
  { name: 'model 400', at, strike: apiError(400) },
  { name: 'model 401', at, strike: apiError(401) },
  { name: 'model 408', at, strike: apiError(408) },
  { name: 'model 429', at, strike: apiError(429, { 'retry-after': '2' }) },
  { name: 'model 429 for 250 ms', at, strike: apiError(429, { 'retry-after-ms': '250' }) },
  { name: 'model 429 for 61 s', at, strike: apiError(429, { 'retry-after': '61' }) },
  { name: 'model 429 without end', at, lasts: true, strike: apiError(429, { 'retry-after': '2' }) },
  { name: 'model 500', at, strike: apiError(500) },
  { name: 'model 500 without end', at, lasts: true, strike: apiError(500) },
  { name: 'model 503, then 400', at, lasts: true, strike: inTurn(apiError(503), apiError(400)) },
  { name: 'model out of reach', at, strike: modelUnreachable },
  { name: 'model out of reach for good', at, lasts: true, strike: modelUnreachable },
  { name: 'model is overloaded before its answer', at, strike: reportsError },
  { name: 'model broken', at, strike: rejects },
  { name: 'model cut', at, strike: cut((canary) => new TypeError(`terminated: ${canary}`)) },
  { name: 'model cut without a word', at, strike: cut(() => 'ends') },
  { name: 'model stalls', at, strike: cut(() => 'stalls') },
  { name: 'model silent', at, strike: silent },
  { name: 'model garbage', at, strike: garbage },
];

const commit = /^storage\.commit /;
const anyStorage = /^storage\./;
const storageFaults: readonly Fault[] = [
  { name: 'storage full', at: commit, strike: fails('unavailable', 'storage_full') },
  { name: 'storage full for good', at: commit, lasts: true, strike: fails('unavailable', 'storage_full') },
  { name: 'storage down', at: anyStorage, strike: fails('unavailable', 'storage_blocked') },
  { name: 'storage down for good', at: anyStorage, lasts: true, strike: fails('unavailable', 'storage_blocked') },
  { name: 'storage broken', at: anyStorage, strike: rejects },
  { name: 'storage broken for good', at: anyStorage, lasts: true, strike: rejects },
  { name: 'storage conflict', at: commit, strike: answers({ ok: false, conflicts: [] }) },
  { name: 'storage loses the answer', at: commit, strike: losesAnswer },
  { name: 'storage repeats a commit whose answer was lost', at: commit, strike: repeats },
  { name: 'storage away for 8 s', at: anyStorage, lasts: true, strike: away(8_000) },
  { name: 'storage slow', at: anyStorage, strike: later(1_500) },
  { name: 'storage silent', at: anyStorage, strike: silent },
  { name: 'storage silent for good', at: anyStorage, lasts: true, strike: silent },
  { name: 'storage garbage', at: /^storage\.(get|list) /, strike: garbage },
];

const catalog = /^catalog\./;
const secrets = /^secrets\./;
const configurationFaults: readonly Fault[] = [
  { name: 'catalog down', at: catalog, strike: fails('unavailable', 'down') },
  { name: 'catalog broken', at: catalog, strike: rejects },
  { name: 'catalog slow', at: catalog, strike: later(1_500) },
  { name: 'catalog silent', at: catalog, strike: silent },
  { name: 'catalog garbage', at: catalog, strike: garbage },
  { name: 'agent not found', at: /^catalog\.agent /, strike: answers(undefined) },
  { name: 'provider config missing', at: /^catalog\.provider /, strike: answers(undefined) },
  { name: 'MCP server not found', at: /^catalog\.mcpServer /, strike: answers(undefined) },
  { name: 'secret source silent', at: secrets, strike: silent },
  { name: 'secret denied', at: secrets, strike: fails('forbidden', 'denied') },
  { name: 'secret source broken', at: secrets, strike: rejects },
];

const tool = /^tool\./;
const mcp = /^mcp\.(connect|listTools|callTool) /;
const toolFaults: readonly Fault[] = [
  { name: 'tool throws', at: tool, strike: throws },
  { name: 'tool rejects', at: tool, strike: rejects },
  { name: 'tool hangs', at: tool, strike: silent },
  { name: 'tool slow', at: tool, strike: later(1_500) },
  { name: 'tool loses its answer', at: tool, strike: losesAnswer },
  { name: 'tool returns no JSON', at: tool, strike: answers(1n) },
  { name: 'MCP server removes a tool', at: /^mcp\.listTools /, strike: answers([]) },
  { name: 'MCP server drops the connection', at: mcp, strike: fails('unavailable', 'dropped') },
  { name: 'MCP server silent', at: mcp, strike: silent },
  { name: 'MCP server broken', at: mcp, strike: rejects },
  { name: 'MCP server garbage', at: /^mcp\.(listTools|callTool) /, strike: garbage },
  {
    name: 'MCP server does not close',
    at: /^mcp\.close /,
    strike: async (call) => (await call.go(), await silent(call)),
  },
  {
    name: 'MCP server throws on close',
    at: /^mcp\.close /,
    strike: async (call) => (await call.go(), await rejects(call)),
  },
];

const everywhere = /^(?!sink |client\.)/;
const aroundFaults: readonly Fault[] = [
  { name: 'client disconnects', at: /^client\./, strike: answers('left') },
  { name: 'client cancels', at: /^client\./, strike: stops },
  { name: 'client cancels at any time', at: everywhere, strike: stops },
  { name: 'clock jumps ahead', at: everywhere, strike: jumps(300_000) },
  { name: 'clock jumps back', at: everywhere, strike: jumps(-300_000) },
  { name: 'instance stopped', at: everywhere, strike: kills },
  { name: 'instance stopped behind it', at: everywhere, strike: killsBehind },
  { name: 'sink throws', at: /^sink /, strike: throws },
  { name: 'sink rejects', at: /^sink /, strike: rejects },
  { name: 'sink hangs', at: /^sink /, strike: silent },
  { name: 'permission hook throws', at: /^authorize /, strike: throws },
  { name: 'permission hook silent', at: /^authorize /, strike: silent },
  { name: 'permission hook garbage', at: /^authorize /, strike: garbage },
];

/** Every port without faults of its own: egress, blobs, audits, embedders, and what lies below an adapter. */
const other = /^(?!(storage|catalog|secrets|model|tool|mcp|client)\.|authorize |sink )/;
const otherFaults: readonly Fault[] = [
  { name: 'port down', at: other, strike: fails('unavailable', 'down') },
  { name: 'port broken', at: other, strike: rejects },
  { name: 'port slow', at: other, strike: later(1_500) },
  { name: 'port silent', at: other, strike: silent },
  { name: 'port loses the answer', at: other, strike: losesAnswer },
];

/** The faults that `simulate` chooses from: of storages, catalogs, secrets, models, tools, MCP servers, clients, clocks and instances. */
export const portFaults: readonly Fault[] = [
  ...storageFaults,
  ...configurationFaults,
  ...modelFaults,
  ...toolFaults,
  ...aroundFaults,
  ...otherFaults,
];

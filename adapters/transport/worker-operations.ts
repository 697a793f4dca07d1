/** The operations that a worker serves its page besides streams: one table, of which both sides of the port are made. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Principal } from '../../src/base/principal.ts';
import type { HostedRuntime } from '../../src/runtime/runtime.ts';
import type { RemoteInbox, RemoteRooms } from './client/rooms.ts';

/** By room and method: how many arguments come before the principal. One object of options may follow it. */
const operations = {
  runtime: { manifest: 1, decide: 3, reply: 2, send: 2 },
  inbox: { list: 0, get: 1, decide: 1 },
  chats: { list: 0, get: 1, rename: 2, import: 1, delete: 1 },
  schedules: { create: 1, list: 0, get: 1, update: 2, delete: 1, pause: 1, resume: 1, run: 1, fires: 1 },
  prompts: { list: 1, get: 2, complete: 2 },
  resources: { list: 1, read: 2 },
  apps: { read: 2, call: 2 },
  undo: { preview: 2, run: 2 },
  mcpSignIns: { start: 2, finish: 1, grant: 1, revoke: 1, answer: 3 },
} as const;

type Operations = typeof operations;
type Room = keyof Operations;

export type OperationCall = {
  [R in Room]: readonly [room: R, method: keyof Operations[R], ...args: readonly unknown[]];
}[Room];

/** What a worker may serve of it. */
export type ServedRooms =
  & Pick<HostedRuntime, keyof Operations['runtime']>
  & { readonly [R in Exclude<Room, 'runtime'>]?: Pick<HostedRuntime[R], keyof Operations[R] & keyof HostedRuntime[R]> };

const absent: Readonly<Record<Room, readonly [code: 'unavailable' | 'not_found', message: string]>> = {
  runtime: ['unavailable', 'Cannot call the runtime'],
  inbox: ['unavailable', 'Cannot read the inbox: the runtime has none'],
  chats: ['unavailable', 'Cannot read chats: the runtime stores none'],
  schedules: ['unavailable', 'Cannot read schedules: the runtime has none'],
  prompts: ['unavailable', 'Cannot read from MCP servers: the runtime has none'],
  resources: ['unavailable', 'Cannot read from MCP servers: the runtime has none'],
  apps: ['unavailable', 'Cannot read from MCP servers: the runtime has none'],
  undo: ['unavailable', 'Cannot take back: the runtime has no undo'],
  mcpSignIns: ['not_found', 'Cannot sign in to MCP servers: the runtime has no sign-ins'],
};

/** Calls an operation in the worker. The principal is that of the port, whatever the page passes. */
export async function callOperation(
  runtime: ServedRooms,
  principal: Principal,
  [room, method, ...args]: OperationCall,
): Promise<unknown> {
  const before: unknown = Object.hasOwn(operations, room) && Object.hasOwn(operations[room], method)
    ? Reflect.get(operations[room], method)
    : undefined;
  if (typeof before !== 'number') throw new PinnaceError('invalid_argument', 'Cannot call the worker: no such method');
  const target: unknown = room === 'runtime' ? runtime : runtime[room];
  if (!target) throw new PinnaceError(...absent[room], { retryable: false });
  const call = Reflect.get(target, method) as (...given: readonly unknown[]) => Promise<unknown>; // safe: the table names methods
  const own = Array.from({ length: before }, (_, at) => args[at]); // padded, so that nothing of the page is read as the principal
  return await Reflect.apply(call, target, [...own, principal, args[before] ?? {}]);
}

/** Returns the rooms of a worker. Signals stay on this side. */
export function workerRooms(
  send: (call: OperationCall) => Promise<unknown>,
  watch: RemoteInbox['watch'],
): RemoteRooms {
  const rooms = Object.entries(operations).map(([room, methods]) => [
    room,
    Object.fromEntries(
      Object.entries(methods).map(([method, before]) => [
        method,
        async (...args: readonly unknown[]) => {
          const { signal: _, ...options } = Object(args[before]) as { readonly signal?: unknown };
          return await send([room, method, ...args.slice(0, before), options] as unknown as OperationCall); // safe: of the table
        },
      ]),
    ),
  ]);
  const { mcpSignIns, inbox, ...others } = Object.fromEntries(rooms) as RemoteRooms; // safe: the methods of the table, by name
  return {
    ...others,
    inbox: { ...inbox, watch },
    mcpSignIns: {
      ...mcpSignIns,
      answer: async (runId, interruptionId, answers) =>
        void await send(['mcpSignIns', 'answer', runId, interruptionId, { answers }]),
    },
  };
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Returns the same calls. They reject when the worker reports an error before its first answer: its script was not loaded or threw,
 * so it never answers. Errors after that are those of a worker that runs.
 */
export function orNotStarted<T extends object>(remote: T, worker: object): T {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined); // the calls report it
  let isStarted = false;
  if (worker instanceof EventTarget) worker.addEventListener('error', () => reject(notStarted()));
  const answered = async (call: Call, args: readonly unknown[]): Promise<unknown> => {
    const answer = await call(...args);
    isStarted = true;
    return answer;
  };
  return new Proxy(remote, {
    get(target, name) {
      const call = Reflect.get(target, name) as Call; // a wire has functions only
      return (...args: readonly unknown[]) => isStarted ? call(...args) : Promise.race([answered(call, args), failed]); // later, `failed` would hold every answer
    },
  });
}

function notStarted(): PinnaceError {
  const message = 'Cannot reach the agent: its worker did not start. Check the address of its script, and the console';
  return new PinnaceError('unavailable', message, { retryable: false, details: { reason: 'worker_failed' } });
}

/** The agent worker of this tab: where the browser can, one that outlasts a reload. */

import type { Endpoint } from 'comlink';
import { ownScript, scriptOfNoAddress } from '../../control/trusted.ts';
import type { Transport } from '../../chat/state/run.ts';
import { connect, type Connection } from './connect.ts';

interface AgentWorker {
  /** Reports that its script failed. */
  readonly worker: Worker | SharedWorker;
  /** The page's end of its control interface. */
  readonly port: Endpoint;
  /** Whether an earlier visit of this tab may have started it. */
  readonly isEarlier: boolean;
}

/** The option that TypeScript's types do not have yet. */
interface LastingOptions extends WorkerOptions {
  readonly extendedLifetime: boolean;
}

type Tab = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;

const note = 'pinnace.worker';
/** How long a worker of an earlier visit may take to respond: one that hangs must not make every reload fail. */
const earlierMs = 4000;

interface ConnectedAgent {
  readonly connection: Connection;
  readonly close: () => void;
}

interface AgentOptions {
  readonly connectRuntime: (port: MessagePort) => Transport;
  /** What this tab remembers; it may throw, as in a private window. */
  readonly tab: () => Tab;
}

/**
 * Starts the worker, or connects to the one that outlasted a reload of this tab. Each tab has its own: a model that is chosen in one tab
 * does not change another one. Rejects as `connect` does.
 */
export async function connectAgent(url: string, { connectRuntime, tab }: AgentOptions): Promise<ConnectedAgent> {
  const { worker, port, isEarlier } = await startAgentWorker(url, tab);
  try {
    const { close: end, ...connection } = await connect(worker, {
      connectRuntime,
      port,
      ...(isEarlier && { timeoutMs: earlierMs }),
    });
    const close = (): void => {
      forgetAgentWorker(tab);
      if ('terminate' in worker) worker.terminate();
      else end();
    };
    return { connection, close };
  } catch (error) {
    forgetAgentWorker(tab);
    if (isEarlier) return await connectAgent(url, { connectRuntime, tab });
    throw error;
  }
}

async function startAgentWorker(url: string, tab: () => Tab): Promise<AgentWorker> {
  if (!canLast()) {
    const worker = new Worker(ownScript(url), { type: 'module', name: 'agent' });
    return { worker, port: worker, isEarlier: false };
  }
  const { id, isEarlier } = await claimId(tab);
  const options: LastingOptions = { type: 'module', name: `agent ${id}`, extendedLifetime: true };
  const worker = new SharedWorker(ownScript(url), options);
  return { worker, port: worker.port, isEarlier };
}

/** Forgets the tab's worker, so that the next one is new. */
function forgetAgentWorker(tab: () => Tab): void {
  try {
    tab().removeItem(note);
  } catch {
    // Nothing was noted.
  }
}

/** Whether the browser reads the option. The address cannot be parsed, so nothing is started. */
function canLast(): boolean {
  if (!('SharedWorker' in globalThis) || !('locks' in navigator)) return false;
  let isRead = false;
  const options: LastingOptions = {
    get extendedLifetime() {
      return isRead = true;
    },
  };
  try {
    Reflect.construct(SharedWorker, [scriptOfNoAddress(), options]);
  } catch {
    // A SyntaxError, always.
  }
  return isRead;
}

/** How long a page that is being reloaded may take to let go of its worker. */
const handOverMs = 500;

/** Returns the id of this tab's worker. A tab that was duplicated has the note of the other one, which holds the lock: it gets its own. */
async function claimId(tab: () => Tab): Promise<{ readonly id: string; readonly isEarlier: boolean }> {
  const earlier = readNote(tab);
  if (earlier !== undefined && await isFree(earlier)) return { id: earlier, isEarlier: true };
  const id = crypto.randomUUID();
  await isFree(id);
  try {
    tab().setItem(note, id);
  } catch {
    // Without a note a reload starts another worker.
  }
  return { id, isEarlier: false };
}

function readNote(tab: () => Tab): string | undefined {
  try {
    return tab().getItem(note) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Takes the lock of a worker for as long as this page lives. Returns false when another page has it. */
function isFree(id: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const held = navigator.locks.request(
    `pinnace worker ${id}`,
    { signal: AbortSignal.timeout(handOverMs) },
    () => {
      resolve(true);
      return new Promise(() => undefined);
    },
  );
  held.catch(() => resolve(false));
  return promise;
}

/** Signals from any instance to the one that executes a run: stop it, or read a message to it. */

import { createBulletin } from '../../log/bulletin.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';

/** A run to stop, or one with a message that waits to be accepted. */
type RunSignal = string | { readonly runId: string; readonly messageId: string };

/** Signals about runs. */
export interface RunSignals {
  readonly cancel: (runId: string) => Promise<void>;
  readonly message: (runId: string, messageId: string) => Promise<void>;
  /** The first run subscribes, so that an idle runtime watches nothing. */
  readonly subscribe: () => void;
}

/** What an instance does at a signal. */
interface SignalListener {
  readonly onCancel: (runId: string) => void;
  readonly onMessage: (runId: string, messageId: string) => void;
}

/** Opens the signals of a storage, until `closing` aborts. */
export function createRunSignals(
  storage: Storage & Partial<Watchable>,
  { onCancel, onMessage }: SignalListener,
  closing: AbortSignal,
): RunSignals {
  const signals = createBulletin<RunSignal>(storage, 'cancel');
  let subscribed = false;
  return {
    cancel: (runId) => signals.publish(runId),
    message: (runId, messageId) => signals.publish({ runId, messageId }),
    subscribe() {
      if (subscribed) return;
      subscribed = true;
      signals.subscribe((signal) => {
        if (typeof signal === 'string') onCancel(signal);
        else onMessage(signal.runId, signal.messageId);
      }, closing);
    },
  };
}

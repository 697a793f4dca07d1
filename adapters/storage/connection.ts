/** A connection that opens on first use, reopens after a failure, and rejects every call once it is closed. */

import { storageClosed } from './unavailable.ts';

export interface Connection<Opened> {
  use<Result>(call: (opened: Opened) => Promise<Result>): Promise<Result>;
  forget(opened: Opened): void;
  close(): Promise<void>;
}

interface State<Opened> {
  readonly open: () => Promise<Opened>;
  readonly shut: (opened: Opened) => void;
  readonly running: Set<Promise<unknown>>;
  opening?: Promise<Opened> | undefined;
  current?: Opened | undefined;
  closing?: Promise<void>;
}

export function createConnection<Opened>(
  { open, shut }: { readonly open: () => Promise<Opened>; readonly shut: (opened: Opened) => void },
): Connection<Opened> {
  const state: State<Opened> = { open, shut, running: new Set() };
  return {
    use: (call) => use(state, call),
    forget: (opened) => {
      if (state.current === opened) state.opening = state.current = undefined;
    },
    close: () => state.closing ??= finish(state),
  };
}

async function use<Opened, Result>(
  state: State<Opened>,
  call: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  if (state.closing !== undefined) throw storageClosed();
  const result = (state.opening ??= start(state)).then(call);
  state.running.add(result);
  try {
    return await result;
  } finally {
    state.running.delete(result);
  }
}

async function start<Opened>(state: State<Opened>): Promise<Opened> {
  try {
    return state.current = await state.open();
  } catch (error) {
    state.opening = undefined;
    throw error;
  }
}

async function finish<Opened>(state: State<Opened>): Promise<void> {
  await Promise.allSettled(state.running);
  if (state.current !== undefined) state.shut(state.current);
}

/** Turns of the real event loop: after one, every promise that could be settled is. */

/** Turns until they are closed. */
export interface Turns {
  next(): Promise<void>;
  close(): void;
}

/** A browser takes several turns for a module that it has already loaded. */
const turnsOfBrowsers = 4;

/** Creates turns. Deno delivers messages before promises are settled, so `setImmediate` comes first where it exists. */
export function createTurns(): Turns {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
  if (setImmediate) return { next: () => new Promise((resolve) => void setImmediate(resolve)), close: () => undefined };
  const { port1, port2 } = new MessageChannel();
  let wake = (): void => undefined;
  port1.addEventListener('message', () => wake());
  port1.start();
  const turn = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      port2.postMessage(undefined);
    });
  return {
    async next() {
      for (let turns = 0; turns < turnsOfBrowsers; turns++) await turn();
    },
    close: () => port1.close(),
  };
}

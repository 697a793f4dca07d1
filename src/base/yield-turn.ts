/** Lets a long piece of work stop for others. */

/**
 * Lets everything else that is ready run first. `scheduler.yield` would come back before messages and timers that wait, so that
 * the work could not be stopped; a timer waits longer than necessary.
 */
export function yieldTurn(): Promise<void> {
  const { setImmediate: soon = viaMessage } = globalThis as { setImmediate?: (work: () => void) => unknown };
  return new Promise((resolve) => void soon(resolve));
}

/** Each turn has a channel of its own: Node reads up to 1,000 messages of one channel without a turn of its loop in between. */
function viaMessage(work: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => {
    port1.close();
    work();
  });
  port1.start();
  port2.postMessage(null);
}

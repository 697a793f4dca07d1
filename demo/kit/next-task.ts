/** Resolves in a task of its own, so that the page can paint and handle input between two pieces of work. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel(); // timers are delayed by 4 ms when they nest
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    }, { once: true });
    port1.start();
    port2.postMessage(undefined);
  });
}

/** Work in batches: what is added in one turn, or during a batch, goes into the next one. */

/**
 * Returns the function that adds an item. `work` takes from the front of the queue as many items as it does at once, one at least; it
 * never rejects, and runs once at a time.
 */
export function createBatches<T>(work: (queue: T[]) => Promise<void>): (item: T) => void {
  const queue: T[] = [];
  let busy = false;
  const run = async (): Promise<void> => {
    busy = true;
    await Promise.resolve(); // what is added in this turn goes together
    while (queue.length > 0) await work(queue);
    busy = false;
  };
  return (item) => {
    queue.push(item);
    if (!busy) void run();
  };
}

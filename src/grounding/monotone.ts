/** Makes confidence fall down a list: pool adjacent violators. */

/** Returns the non-rising values nearest to those given: neighbours out of order take their mean. */
export function monotone(values: readonly number[]): number[] {
  const pools: { sum: number; size: number }[] = [];
  for (const value of values) {
    let pool = { sum: value, size: 1 };
    for (let last = pools.at(-1); last && last.sum / last.size < pool.sum / pool.size; last = pools.at(-1)) {
      pools.pop();
      pool = { sum: last.sum + pool.sum, size: last.size + pool.size };
    }
    pools.push(pool);
  }
  return pools.flatMap(({ sum, size }) => Array<number>(size).fill(sum / size));
}

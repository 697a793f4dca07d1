/** Makes confidence fall down a list: pool adjacent violators. */

/** Returns the non-rising values nearest to those given: neighbours out of order take their mean. */
export function monotone(values: readonly number[]): number[] {
  const sums: number[] = [];
  const sizes: number[] = [];
  for (const value of values) {
    let sum = value;
    let size = 1;
    while (sums.length > 0 && sums[sums.length - 1]! / sizes[sizes.length - 1]! < sum / size) {
      sum = sums.pop()! + sum;
      size = sizes.pop()! + size;
    }
    sums.push(sum);
    sizes.push(size);
  }
  const means: number[] = [];
  for (let pool = 0; pool < sums.length; pool++) {
    const mean = sums[pool]! / sizes[pool]!;
    for (let left = sizes[pool]!; left > 0; left--) means.push(mean);
  }
  return means;
}

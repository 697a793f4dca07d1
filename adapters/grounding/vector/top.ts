/** The best few of many, without an object or a sort for each: sorted insertion into typed arrays. */

/** The best rows so far. */
export interface Top {
  /** What a row must reach; more than that, or as much and a smaller id. */
  least(): number;
  offer(score: number, row: number): void;
  /** The rows with their scores, the best first. */
  entries(): { readonly row: number; readonly score: number }[];
}

/** Creates a list of at most `size` rows; of equal scores the row comes first that `before` says. */
export function createTop(size: number, before: (a: number, b: number) => boolean): Top {
  const scores = new Float64Array(size).fill(-Infinity);
  const rows = new Int32Array(size).fill(-1);
  let count = 0;
  const last = size - 1;
  return {
    least: () => scores[last]!,
    offer(score, row) {
      const isBetter = (at: number): boolean => {
        const other = scores[at] ?? 0;
        return other < score || (other === score && before(row, rows[at]!));
      };
      if (count === size && !isBetter(last)) return;
      let at = Math.min(count, last);
      while (at > 0 && isBetter(at - 1)) {
        scores[at] = scores[at - 1]!;
        rows[at] = rows[at - 1]!;
        at--;
      }
      scores[at] = score;
      rows[at] = row;
      if (count < size) count++;
    },
    entries: () => Array.from({ length: count }, (_, at) => ({ row: rows[at]!, score: scores[at]! })),
  };
}

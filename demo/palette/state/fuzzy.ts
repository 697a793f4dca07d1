/** Finds titles by a few letters: parts of words, beginnings of words run together, and words with one slip. */

/** Returns how well a title fits, the higher the better; 0: not at all. Every word of the query has to. */
export function fit(text: string, query: string): number {
  return fitBy(
    text,
    query,
    (wanted, target) =>
      fitWord(wanted, target) || (isMadeOfPrefixes(wanted, target.words) ? 2 : 0) || fitSlip(wanted, target),
  );
}

/** As `fit`, for keywords that are not shown. Their beginnings are not run together: `dark` is not "documentation arktype". */
export function fitKeywords(text: string, query: string): number {
  return fitBy(text, query, (wanted, target) => fitStart(wanted, target) || fitSlip(wanted, target));
}

function fitBy(text: string, query: string, scoreOf: (wanted: string, target: Target) => number): number {
  const target = text.toLowerCase();
  const words = target.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const scores = query.toLowerCase().split(/\s+/).filter((word) => word !== '')
    .map((wanted) => scoreOf(wanted, { target, words }));
  if (scores.length === 0 || scores.includes(0)) return scores.length === 0 ? 1 : 0;
  return scores.reduce((sum, score) => sum + score, 0);
}

interface Target {
  readonly target: string;
  readonly words: readonly string[];
}

function fitWord(wanted: string, { target, words }: Target): number {
  if (target.startsWith(wanted)) return 5;
  if (words.some((word) => word.startsWith(wanted))) return 4;
  return target.includes(wanted) ? 3 : 0;
}

/** Keywords are many: within a word, only a long part counts. */
function fitStart(wanted: string, target: Target): number {
  const score = fitWord(wanted, target);
  return score === 3 && wanted.length < 4 ? 0 : score;
}

function fitSlip(wanted: string, { words }: Target): number {
  return words.some((word) => isOneSlipAway(wanted, word)) ? 1 : 0;
}

/** `nc` and `newch` are made of the beginnings of "new chat", in order; words between may be left out. */
function isMadeOfPrefixes(wanted: string, words: readonly string[]): boolean {
  if (wanted === '') return true;
  return words.some((word, at) => {
    for (let length = commonStart(wanted, word); length > 0; length--) {
      if (isMadeOfPrefixes(wanted.slice(length), words.slice(at + 1))) return true;
    }
    return false;
  });
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** One letter too many, too few, another one, or two that changed places; short words allow none. */
function isOneSlipAway(wanted: string, word: string): boolean {
  if (wanted.length < 4 || Math.abs(wanted.length - word.length) > 1) return false;
  const start = commonStart(wanted, word);
  const [a, b] = [wanted.slice(start), word.slice(start)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return isSwapped || a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
}

/** Finds many patterns in one pass over UTF-16 code units (Aho and Corasick), with a state that can wait for more text. */

/** The patterns as a trie whose failures lead to the longest suffix that is a prefix too. State 0 is the root. */
export interface Automaton {
  /** Returns the state after one more code unit. */
  readonly step: (state: number, unit: number) => number;
  /** How many of the last units may belong to a pattern. */
  readonly depth: Int32Array;
  /** The longest pattern that ends in a state, by its index; -1 for none. */
  readonly match: Int32Array;
}

/** Builds the automaton; a repeated pattern has its first index. */
export function buildAutomaton(patterns: readonly string[]): Automaton {
  const trie = buildTrie(patterns);
  const fail = linkFailures(trie);
  return { step: (state, unit) => step(trie, { fail, state, unit }), depth: trie.depth, match: trie.match };
}

interface Trie {
  /** How many states there are. */
  size: number;
  /** The children of the root for ASCII, where most steps start and end. */
  readonly ascii: Int32Array;
  /** The unit that leads into a state, its first child, and the next child of its parent; 0 for none. */
  readonly unit: Uint16Array;
  readonly child: Int32Array;
  readonly sibling: Int32Array;
  readonly depth: Int32Array;
  readonly match: Int32Array;
}

function buildTrie(patterns: readonly string[]): Trie {
  const most = patterns.reduce((sum, { length }) => sum + length, 1);
  const trie: Trie = {
    size: 1,
    ascii: new Int32Array(128),
    unit: new Uint16Array(most),
    child: new Int32Array(most),
    sibling: new Int32Array(most),
    depth: new Int32Array(most),
    match: new Int32Array(most).fill(-1),
  };
  patterns.forEach((pattern, index) => insert(trie, { pattern, index }));
  return trie;
}

function insert(trie: Trie, { pattern, index }: { pattern: string; index: number }): void {
  let state = 0;
  for (let i = 0; i < pattern.length; i++) {
    const unit = pattern.charCodeAt(i);
    state = childOf(trie, state, unit) || addChild(trie, { parent: state, unit });
  }
  if (trie.match[state] === -1) trie.match[state] = index;
}

function addChild(trie: Trie, { parent, unit }: { parent: number; unit: number }): number {
  const state = trie.size++;
  trie.unit[state] = unit;
  trie.depth[state] = trie.depth[parent]! + 1;
  trie.sibling[state] = trie.child[parent]!;
  trie.child[parent] = state;
  if (parent === 0 && unit < 128) trie.ascii[unit] = state;
  return state;
}

/** The hot path: `!` because every index is a state, and a check would be one more per unit. */
function childOf({ ascii, unit: units, child, sibling }: Trie, state: number, unit: number): number {
  if (state === 0 && unit < 128) return ascii[unit]!;
  let candidate = child[state]!;
  while (candidate !== 0 && units[candidate] !== unit) candidate = sibling[candidate]!;
  return candidate;
}

function step(trie: Trie, { fail, state, unit }: { fail: Int32Array; state: number; unit: number }): number {
  for (let from = state;; from = fail[from]!) {
    const next = childOf(trie, from, unit);
    if (next !== 0 || from === 0) return next;
  }
}

/** Breadth first: the failure of a state is found from that of its parent, which is nearer to the root. */
function linkFailures(trie: Trie): Int32Array {
  const fail = new Int32Array(trie.size);
  const queue = new Int32Array(trie.size);
  let last = 1;
  for (let at = 0; at < last; at++) {
    const parent = queue[at]!;
    for (let state = trie.child[parent]!; state !== 0; state = trie.sibling[state]!) {
      queue[last++] = state;
      if (parent === 0) continue;
      const to = step(trie, { fail, state: fail[parent]!, unit: trie.unit[state]! });
      fail[state] = to;
      if (trie.match[state] === -1) trie.match[state] = trie.match[to]!;
    }
  }
  return fail;
}

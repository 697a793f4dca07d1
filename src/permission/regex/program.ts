/** Creates a machine from a regular expression: steps that characters lead through. */

import { type Assertion, type CharSet, type Node, refused, searchLimits } from './node.ts';
import { parse, type ParseOptions } from './parse.ts';

/** One step of a machine. `split` and `jump` take no character. */
export type Step =
  | { readonly op: 'char'; readonly set: CharSet }
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'assert'; readonly where: Assertion }
  | { readonly op: 'match' };

/** A machine, and a text that every match contains. */
export interface Program {
  readonly steps: readonly Step[];
  /** Empty when nothing is sure. */
  readonly literal: string;
  /** Says quickly of most texts that nothing in them matches. */
  readonly mayMatch: (text: string) => boolean;
}

/**
 * Creates the machine of a pattern that searches texts: `.` means every character.
 *
 * @throws PinnaceError `invalid_argument` for a pattern that is invalid, too long or not linear.
 */
export function parseRegex(pattern: string, { ignoreCase }: { readonly ignoreCase: boolean }): Program {
  return compileRegex(pattern, { ignoreCase, dotAll: true, limits: searchLimits });
}

/** Compiles a pattern. @throws PinnaceError as {@link parse} does, also for a program that is too large. */
export function compileRegex(pattern: string, options: ParseOptions): Program {
  const node = parse(pattern, options);
  const steps: Step[] = [];
  emit(node, { steps, most: options.limits.steps });
  steps.push({ op: 'match' });
  const literal = literalOf(node);
  const small = literal.toLowerCase();
  const mayMatch = options.ignoreCase
    ? (text: string) => text.toLowerCase().includes(small)
    : (text: string) => text.includes(literal);
  return { steps, literal, mayMatch };
}

interface Target {
  readonly steps: Step[];
  readonly most: number;
}

function emit(node: Node, target: Target): void {
  const { steps, most } = target;
  if (steps.length > most) throw refused('it is too large: its repetitions multiply', 0);
  switch (node.type) {
    case 'char':
      steps.push({ op: 'char', set: node.set });
      return;
    case 'assert':
      steps.push({ op: 'assert', where: node.where });
      return;
    case 'all':
      for (const one of node.nodes) emit(one, target);
      return;
    case 'any':
      emitAny(node.nodes, target);
      return;
    case 'repeat':
      emitRepeat(node, target);
  }
}

function emitAny(nodes: readonly Node[], target: Target): void {
  const { steps } = target;
  const jumps: number[] = [];
  for (const [at, node] of nodes.entries()) {
    const isLast = at === nodes.length - 1;
    const split = steps.length;
    if (!isLast) steps.push({ op: 'jump', to: 0 }); // becomes the split
    emit(node, target);
    if (isLast) continue;
    jumps.push(steps.push({ op: 'jump', to: 0 }) - 1);
    steps[split] = { op: 'split', first: split + 1, second: steps.length };
  }
  for (const jump of jumps) steps[jump] = { op: 'jump', to: steps.length };
}

function emitRepeat({ node, least, most }: Extract<Node, { type: 'repeat' }>, target: Target): void {
  const { steps } = target;
  for (let i = 0; i < least && !isEmpty(node); i++) emit(node, target);
  if (isEmpty(node)) return;
  if (most === Infinity) {
    const split = steps.push({ op: 'jump', to: 0 }) - 1;
    emit(node, target);
    steps.push({ op: 'jump', to: split });
    steps[split] = { op: 'split', first: split + 1, second: steps.length };
    return;
  }
  const splits: number[] = [];
  for (let i = least; i < most; i++) {
    splits.push(steps.push({ op: 'jump', to: 0 }) - 1);
    emit(node, target);
  }
  // Each leads to the end at once, not from one to the next: a state of the machine stays small.
  for (const split of splits) steps[split] = { op: 'split', first: split + 1, second: steps.length };
}

/** A group of nothing: to repeat it adds no step, and no bound would ever end it. */
function isEmpty(node: Node): boolean {
  return node.type === 'all' && node.nodes.every(isEmpty) ||
    node.type === 'repeat' && (node.most === 0 || isEmpty(node.node));
}

/** The longest text that every match contains: consecutive characters that are not optional. */
function literalOf(node: Node): string {
  if (node.type === 'char') return node.literal ?? '';
  if (node.type !== 'all') return node.type === 'repeat' && node.least > 0 ? literalOf(node.node) : '';
  let [best, run] = ['', ''];
  for (const one of node.nodes) {
    if (one.type === 'char' && one.literal !== undefined) run += one.literal;
    else {
      if (run.length > best.length) best = run;
      run = '';
      const inside = literalOf(one);
      if (inside.length > best.length) best = inside;
    }
  }
  return run.length > best.length ? run : best;
}

/** Aligns a run and its fork step by step. */

import { canonicalJson } from '../../../src/base/json.ts';
import type { RunStep, RunSteps, StepCall } from './run-steps.ts';
import { diffWords, type WordDiff } from './word-diff.ts';

/** A call in both runs, or in one of them. */
export interface CallPair {
  /** `changed`: the same tool with another input. */
  readonly change: 'same' | 'changed' | 'added' | 'removed';
  readonly left: StepCall | undefined;
  readonly right: StepCall | undefined;
  /** Whether both ended alike; true where one is missing. */
  readonly isSameOutcome: boolean;
}

/** A step in both runs, or in one of them. */
export interface StepPair {
  readonly n: number;
  readonly left: RunStep | undefined;
  readonly right: RunStep | undefined;
  readonly text: WordDiff;
  readonly calls: readonly CallPair[];
  readonly isSame: boolean;
}

/** Two runs that share their first steps. */
export interface RunComparison {
  readonly shared: readonly RunStep[];
  readonly pairs: readonly StepPair[];
  /** How many steps differ. */
  readonly different: number;
}

export function compareRuns(left: RunSteps, right: RunSteps): RunComparison {
  const from = right.fork?.atStep ?? 1;
  const last = Math.max(left.steps.length, right.steps.length);
  const pairs = Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => pairOf(from + i, left, right));
  return {
    shared: left.steps.slice(0, from - 1),
    pairs,
    different: pairs.filter(({ isSame }) => !isSame).length,
  };
}

function pairOf(n: number, { steps: before }: RunSteps, { steps: after }: RunSteps): StepPair {
  const [left, right] = [before[n - 1], after[n - 1]];
  const calls = pairCalls(left?.calls ?? [], right?.calls ?? []);
  const isSame = left !== undefined && right !== undefined && left.text === right.text &&
    calls.every(({ change, isSameOutcome }) => change === 'same' && isSameOutcome);
  return { n, left, right, calls, isSame, text: diffWords(left?.text ?? '', right?.text ?? '') };
}

/** Calls with the same input belong together, then those of the same tool in their order. */
export function pairCalls(left: readonly StepCall[], right: readonly StepCall[]): readonly CallPair[] {
  const open = new Set(right);
  const partners = new Map<StepCall, StepCall>();
  for (const isPartner of [isSameCall, isSameTool]) {
    for (const call of left) {
      const partner = partners.has(call) ? undefined : [...open].find((other) => isPartner(call, other));
      if (!partner) continue;
      partners.set(call, partner);
      open.delete(partner);
    }
  }
  return [
    ...left.map((call): CallPair => {
      const partner = partners.get(call);
      if (!partner) return { change: 'removed', left: call, right: undefined, isSameOutcome: true };
      const change = isSameCall(call, partner) ? 'same' : 'changed';
      return { change, left: call, right: partner, isSameOutcome: isEqual(call.outcome, partner.outcome) };
    }),
    ...[...open].map((call): CallPair => ({ change: 'added', left: undefined, right: call, isSameOutcome: true })),
  ];
}

function isSameTool(a: StepCall, b: StepCall): boolean {
  return a.tool === b.tool;
}

function isSameCall(a: StepCall, b: StepCall): boolean {
  return isSameTool(a, b) && isEqual(a.input, b.input);
}

function isEqual(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

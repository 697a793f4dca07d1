/** Runs a machine over a text: all its threads at once, so that time grows with the text and not with what it could mean. */

import { type Assertion, isWord } from './parse.ts';
import type { Program, Step } from './matcher.ts';

/** Returns the first match, the longest at its start; `undefined` when there is none. */
export function findMatch({ steps }: Program, text: string, from = 0): readonly [from: number, to: number] | undefined {
  let now = emptyThreads(steps.length);
  let next = emptyThreads(steps.length);
  let found: readonly [number, number] | undefined;
  for (let at = from, width = 1; at <= text.length; at += width) {
    if (!found) addThread(now, { step: 0, start: at }, { steps, text, at });
    if (found && now.size === 0) break;
    const code = text.codePointAt(at) ?? -1;
    width = code > 0xffff ? 2 : 1;
    for (let i = 0; i < now.size; i++) {
      const step = steps[now.order[i]!]!;
      const start = now.starts[now.order[i]!]!;
      if (step.op === 'match') {
        if (!found || start < found[0] || (start === found[0] && at > found[1])) found = [start, at];
      } else if (step.op === 'char' && code >= 0 && step.set.test(code) && start <= (found?.[0] ?? Infinity)) {
        addThread(next, { step: now.order[i]! + 1, start }, { steps, text, at: at + width });
      }
    }
    [now, next] = [next, now];
    next.size = 0;
    next.mark++;
  }
  return found;
}

/** The current steps of the threads, each once, and where the threads started. */
interface Threads {
  readonly order: Int32Array;
  readonly starts: Int32Array;
  /** Tells whether a step is among them: its mark is the present one. */
  readonly marks: Int32Array;
  mark: number;
  size: number;
}

function emptyThreads(steps: number): Threads {
  return {
    order: new Int32Array(steps),
    starts: new Int32Array(steps),
    marks: new Int32Array(steps),
    mark: 1,
    size: 0,
  };
}

interface TextPosition {
  readonly steps: readonly Step[];
  readonly text: string;
  readonly at: number;
}

/** Threads are added in the order of their starts: the first at a step started first. */
function addThread(threads: Threads, { step, start }: { step: number; start: number }, place: TextPosition): void {
  const open = [step];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (threads.marks[at] === threads.mark) continue;
    threads.marks[at] = threads.mark;
    const one = place.steps[at]!;
    if (one.op === 'jump') open.push(one.to);
    else if (one.op === 'split') open.push(one.second, one.first);
    else if (one.op === 'assert') {
      if (holds(one.where, place)) open.push(at + 1);
    } else {
      threads.order[threads.size++] = at;
      threads.starts[at] = start;
    }
  }
}

function holds(where: Assertion, { text, at }: TextPosition): boolean {
  if (where === 'start') return at === 0;
  if (where === 'end') return at === text.length;
  const isWordAt = (place: number): boolean => place >= 0 && place < text.length && isWord(text.charCodeAt(place));
  return (isWordAt(at - 1) !== isWordAt(at)) === (where === 'word');
}

/** Splits one stage of a message into requests, each with the tool that it names. */

import { type ChooseTool, isPlain, type Match } from './choose-tool.ts';
import { partsOf } from './clauses.ts';
import type { Filled } from './fill/fill-input.ts';
import { capitalised } from './patterns.ts';
import { stemsOf, wordsOf } from './words.ts';

/** A part of the stage with the tool that it names. */
export interface Unit {
  readonly text: string;
  readonly match: Match;
  /** Whether a part without a tool of its own was joined to it. */
  readonly joined: boolean;
}

/** How requests are tried out before they are made. */
export interface Planner {
  readonly choose: ChooseTool;
  readonly fill: (match: Match, text: string) => Filled;
}

/** Returns the requests in their order. */
export function unitsOf(stage: string, planner: Planner): readonly Unit[] {
  const units: Unit[] = [];
  let before = '';
  for (const { text, joint } of partsOf(stage)) {
    const last = units.at(-1);
    const match = usableMatch(text, planner);
    if (last) {
      units.splice(-1, 1, ...afterUnit(last, { text, joint, match }, planner));
    } else if (match) {
      const whole = before === '' || isComplete(match, text, planner) ? text : `${before}${joint}${text}`;
      units.push({ text: whole, match, joined: false });
    } else {
      before += `${joint}${text}`;
    }
  }
  if (units.length > 0) return units;
  const match = usableMatch(stage, planner); // the words of several parts together
  return match ? [{ text: stage, match, joined: false }] : [];
}

/**
 * Returns the best tool whose required inputs the text contains; otherwise the best tool that the text clearly names. A tool
 * that shares few words with the text counts only if it also takes an input from it.
 */
function usableMatch(text: string, planner: Planner): Match | undefined {
  const ranked = planner.choose(text);
  const [best] = ranked;
  const near = ranked.slice(0, 5).filter((match) =>
    match.score === best?.score || (isPlain(match) && match.score * 2 >= (best?.score ?? 0))
  );
  const complete = near.find((match) => {
    const { input, missing } = planner.fill(match, text);
    return missing.length === 0 && (isPlain(match) || Object.keys(input).length > 0);
  });
  return complete ?? (best && isPlain(best) ? best : undefined);
}

interface Part {
  readonly text: string;
  /** The text between this unit and the previous one. */
  readonly joint: string;
  readonly match: Match | undefined;
}

/** The last unit and a further part: one unit or two. */
function afterUnit(last: Unit, { text, joint, match }: Part, planner: Planner): readonly Unit[] {
  const merged: Unit = { ...last, text: `${last.text}${joint}${text}`, joined: true };
  const isBare = text.trim().split(/\s+/u).length <= 3;
  const adds = (): boolean => inputOf(last, merged.text, planner) !== inputOf(last, last.text, planner);
  const isOther = match !== undefined && match.tool !== last.match.tool;
  const isOne = wordsOf(text).length === 1;
  if (takesList(last.match) && (isOne || !isOther) && adds()) return [merged];
  const standsAlone = match !== undefined && isComplete(match, text, planner);
  if (standsAlone && (isOther || !isBare || isSaid(match, text))) return [last, { text, match, joined: false }];
  if (adds()) return [merged];
  const repeated = isBare && !last.joined ? withOtherValue(last, text, planner) : undefined;
  if (repeated !== undefined) return [last, { ...last, text: repeated }];
  return isOther ? [last, { text, match, joined: false }] : [merged];
}

/** Whether the text says a word of the tool's name. */
function isSaid({ tool: { verbs } }: Match, text: string): boolean {
  return [...stemsOf(text)].some((word) => verbs.has(word));
}

function isComplete(match: Match, text: string, { fill }: Planner): boolean {
  return fill(match, text).missing.length === 0;
}

function inputOf({ match }: Unit, text: string, { fill }: Planner): string {
  return JSON.stringify(fill(match, text).input);
}

function takesList({ tool: { shape } }: Match): boolean {
  return shape.fields().some((field) => field.shape.kind === 'array');
}

/** A name at the end, which may become another value: Tokyo is a time zone. */
const lastName = new RegExp(`(?<=\\b(?:in|at|for|of|from|to|on|near)\\s)${capitalised}$`, 'u');

/** "The weather in Paris" and then "Berlin": the same request with the last value replaced. */
function withOtherValue({ text, match }: Unit, part: string, { fill }: Planner): string | undefined {
  const other = part.trim().replace(/^(?:in|at|for|of|from|to|on|near)\s+(?:the\s+)?/iu, '').replace(/[.?!]+$/u, '');
  if (!/^[\p{Lu}\d"“'`«([-]/u.test(other) && !/[\d_@/]/u.test(other)) return undefined;
  const head = text.replace(/[\s.?!]+$/u, '');
  const unquoted = head.replace(/["”'`»]$/u, '');
  const value = Object.values(fill(match, text).input).map(String)
    .find((one) => one !== '' && (head.endsWith(one) || unquoted.endsWith(one))) ?? lastName.exec(head)?.[0];
  if (value === undefined) return undefined;
  const isQuoted = !head.endsWith(value);
  const from = (isQuoted ? unquoted : head).length - value.length - Number(isQuoted);
  const changed = `${head.slice(0, from)}${other}`;
  const inputOfText = (one: string): string => JSON.stringify(fill(match, one).input);
  return inputOfText(changed) === inputOfText(text) ? undefined : changed;
}

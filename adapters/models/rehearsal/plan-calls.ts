/** Turns one stage of a message into calls. */

import { type ActiveTool, chooserOf, isPlain, type Match } from './choose-tool.ts';
import { repeatsOf } from './clauses.ts';
import { parseJson } from './clause.ts';
import { stringify } from './conversation.ts';
import type { Call } from './explicit-calls.ts';
import { completed, type Filled, fillInput } from './fill/fill-input.ts';
import type { Field } from './shape.ts';
import { type Planner, type Unit, unitsOf } from './units.ts';
import { stem, stemsOf, wordsOf } from './words.ts';

/** A tool that fits, and what the message does not say about its input. */
export interface Question {
  readonly tool: ActiveTool;
  readonly missing: readonly Field[];
}

/** The calls that a stage requests. */
export interface Plan {
  readonly calls: readonly Call[];
  readonly questions: readonly Question[];
}

/** What the plan rests on. */
export interface PlanContext {
  readonly tools: readonly ActiveTool[];
  readonly results: readonly unknown[];
  readonly uniqueId: (index: number) => string;
  /** Whether a tool has to be called, fit or not. */
  readonly mustCall: boolean;
}

/** Plans the calls of a stage. */
export function planCalls(stage: string, context: PlanContext): Plan {
  const choose = chooserOf(context.tools);
  const calls: Call[] = [];
  const fill = ({ tool, score }: Match, text: string): Filled =>
    fillInput(tool.shape, text, {
      results: isPlain({ tool, score }) ? [...context.results, ...meantBy(text, calls)] : [],
      verbs: tool.verbs,
      mayGuess: isPlain({ tool, score }),
      uniqueId: () => context.uniqueId(calls.length),
    });
  const questions: Question[] = [];
  for (const { match, text } of requestsOf(stage.slice(0, 4000), { planner: { choose, fill }, context })) {
    const { text: once, times } = timesOf(text, (part) => JSON.stringify(fill(match, part).input));
    const { missing } = fill(match, once);
    if (missing.length > 0 && !context.mustCall) questions.push({ tool: match.tool, missing });
    else for (let i = 0; i < times; i++) calls.push(toCall(match, fill(match, once)));
  }
  return { calls, questions };
}

function requestsOf(
  stage: string,
  { planner, context: { tools, mustCall } }: { planner: Planner; context: PlanContext },
): readonly Pick<Unit, 'match' | 'text'>[] {
  const units = unitsOf(stage, planner);
  const [first] = tools;
  return units.length === 0 && mustCall && first ? [{ text: stage, match: { tool: first, score: Infinity } }] : units;
}

/** "It" and "its" mean what the calls before in the same message are about. */
function meantBy(text: string, calls: readonly Call[]): readonly unknown[] {
  return /\b(?:its?|them|their|that one|the same)\b/iu.test(text) ? calls.map(({ input }) => parseJson(input)) : [];
}

/** "Four times" is a repetition only where no property wants the four. */
function timesOf(text: string, inputOf: (text: string) => string): ReturnType<typeof repeatsOf> {
  const repeated = repeatsOf(text);
  return repeated.times > 1 && inputOf(text) !== inputOf(repeated.text) ? { text, times: 1 } : repeated;
}

function toCall({ tool }: Match, { input, missing }: Filled): Call {
  return { toolName: tool.name, input: JSON.stringify(missing.length > 0 ? completed(tool.shape, input) : input) };
}

/** Says what is missing, for people. */
export function askFor({ tool, missing }: Question): string {
  const lacks = missing.map(({ name, shape }) => {
    const [example] = shape.examples;
    const hint = shape.hint === '' ? '' : ` (${shape.hint.slice(0, 200)})`;
    return `\`${name}\`${hint}${example === undefined ? '' : `, for example \`${stringify(example).slice(0, 80)}\``}`;
  });
  return `To call \`${tool.name}\` I need ${lacks.join(' and ')}. Your message does not say it.`;
}

/** Returns the words that a part shares with a tool, to explain the choice. */
export function sharedWords(text: string, tool: ActiveTool): readonly string[] {
  const known = stemsOf(`${tool.name} ${tool.description}`);
  return [...new Set(wordsOf(text).filter((word) => known.has(stem(word)) && stemsOf(word).size > 0))];
}

/** Ranks the active tools by the words that a text shares with their names, descriptions and parameters. */

import { expressionIn } from './arithmetic.ts';
import type { ModelCallOptions } from './conversation.ts';
import { isExpression, isSource, isTarget } from './fill/fill-format.ts';
import { readShape, type Shape } from './shape.ts';
import { relativesOf, stem, stemsOf, wordsOf } from './words.ts';
import { escapeRegExp } from './patterns.ts';

/** A tool as the model sees it in this call. */
export interface ActiveTool {
  readonly name: string;
  readonly description: string;
  readonly shape: Shape;
  /** The stems of the name. */
  readonly verbs: ReadonlySet<string>;
}

/** A tool that a text names, and how clearly. */
export interface Match {
  readonly tool: ActiveTool;
  readonly score: number;
}

/** Returns the tools that a text may name, the best first. */
export type ChooseTool = (text: string) => readonly Match[];

/** The least that a text must share with a tool: one distinctive word of its description. */
const threshold = 1;

/** Whether the text clearly names the tool, as with a distinctive word of its name. */
export function isPlain({ score }: Match): boolean {
  return score >= 1.5;
}

/** Returns the tools that can be called now. */
export function activeToolsOf({ tools = [], toolChoice }: ModelCallOptions): readonly ActiveTool[] {
  if (toolChoice?.type === 'none') return [];
  return tools.flatMap((tool) =>
    tool.type !== 'function' || (toolChoice?.type === 'tool' && toolChoice.toolName !== tool.name) ? [] : [{
      name: tool.name,
      description: tool.description ?? '',
      shape: readShape(tool.inputSchema),
      verbs: new Set(wordsOf(tool.name).map(stem)),
    }]
  );
}

/** Chooses among these tools. Equal tools go by their order. */
export function chooserOf(tools: readonly ActiveTool[]): ChooseTool {
  const indexed = tools.map((tool) => ({ tool, weights: weightsOf(tool), fits: specialtiesOf(tool) }));
  const holders = new Map<string, number>();
  for (const { weights } of indexed) {
    for (const word of weights.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  }
  const rarity = (word: string): number =>
    Math.log(1 + tools.length / (holders.get(word) ?? Infinity)) / Math.log(1 + tools.length);
  return (text) => {
    const words = stemsOf(withoutArguments(text, tools));
    const converts = conversion.test(text);
    const hasArithmetic = expressionIn(text) !== undefined;
    const asksTime = clockQuestion.test(text);
    const matches = indexed.map(({ tool, weights, fits }): Match => {
      const said = mention(text, tool.name) + (fits.arithmetic && hasArithmetic ? 2.5 : 0) +
        (fits.conversion && converts ? 1.5 : 0) + (fits.clock && asksTime ? 1.5 : 0);
      return { tool, score: likeness(words, weights, rarity) + said };
    });
    return matches.filter(({ score }) => score >= threshold).toSorted((one, other) => other.score - one.score);
  };
}

/** How much each word says about the tool: its name most, the texts of its parameters least. */
function weightsOf({ name, description, shape }: ActiveTool): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const word of stemsOf(text)) weights.set(word, Math.max(weight, weights.get(word) ?? 0));
  };
  add(name, 2);
  add(description, 1);
  for (const field of [...shape.fields(), ...shape.variants().flatMap((variant) => variant.fields())]) {
    add(field.name, 0.8);
    add(`${field.shape.hint} ${field.shape.choices.join(' ')}`.slice(0, 2000), 0.5);
  }
  return weights;
}

/** A word of like meaning counts half. A name of which every word is said counts one more. */
function likeness(
  words: ReadonlySet<string>,
  weights: ReadonlyMap<string, number>,
  rarity: (word: string) => number,
): number {
  let sum = 0;
  for (const word of words) {
    const direct = (weights.get(word) ?? 0) * rarity(word);
    const related = Math.max(0, ...[...relativesOf(word)].map((like) => (weights.get(like) ?? 0) * rarity(like)));
    sum += Math.max(direct, related * 0.5);
  }
  const named = [...weights].filter(([, weight]) => weight === 2).map(([word]) => word);
  return sum + (named.length > 0 && named.every((word) => words.has(word)) ? 1 : 0);
}

/** Words that may precede a tool's name in a request. After any other words, the name is the subject of another request. */
const asking =
  '(?:^|[.;:,!?\\n]|\\b(?:use|using|call|run|invoke|execute|via|try|with|and|then|please|you))\\s*(?:the\\s+)?(?:tool\\s+)?[`"\'/]?';

/** The name itself, written as no ordinary word is: `tool_find`, or in quotes, or "use calculator". */
function mention(text: string, name: string): number {
  if (!text.toLowerCase().includes(name.toLowerCase())) return 0;
  const exact = escapeRegExp(name);
  const pattern = isWord(name)
    ? `[\`"']${exact}[\`"']|\\b(?:use|using|call|with)\\s+(?:the\\s+)?${exact}\\b|\\b${exact}\\s+tool\\b|^\\s*/${exact}\\b`
    : `${asking}${exact}(?![\\w-])`;
  return new RegExp(pattern, 'iu').test(text) ? 5 : 0;
}

function isWord(name: string): boolean {
  return /^[a-z]+$/i.test(name);
}

/** The text without the tools' names that only another tool can want. */
function withoutArguments(text: string, tools: readonly ActiveTool[]): string {
  const lower = text.toLowerCase();
  return tools.filter(({ name }) => !isWord(name) && lower.includes(name.toLowerCase()) && mention(text, name) === 0)
    .reduce(
      (rest, { name }) => rest.replace(new RegExp(`(?<![\\w-])${escapeRegExp(name)}(?![\\w-])`, 'giu'), ' '),
      text,
    );
}

/** "5 km to miles", "how many miles are 5 km". */
const conversion =
  /\d\s*°?\p{L}{1,15}\s+(?:to|in|into|as)\s+°?\p{L}+|\bhow\s+(?:many|much)\s+\p{L}+\s+(?:are|is|in|make)\s+\d/iu;

/** "What time is it", "what is the time", "what day is today". */
const clockQuestion =
  /\btime\s+is\s+it\b|\bwhat(?:['’]?s|\s+is)\s+the\s+(?:current\s+)?time\b|\bwhat\s+day\s+is\s+(?:it|today)\b|\bcurrent\s+time\b/iu;

interface Specialties {
  readonly arithmetic: boolean;
  readonly conversion: boolean;
  readonly clock: boolean;
}

/** What a tool's parameters say that it is good for, beyond words. */
function specialtiesOf({ shape, verbs }: ActiveTool): Specialties {
  const fields = shape.fields();
  return {
    arithmetic: fields.some((field) => field.shape.kind === 'string' && isExpression(field)),
    conversion: fields.some(({ words }) => isSource(words)) && fields.some(({ words }) => isTarget(words)) &&
      fields.some((field) => field.shape.kind === 'number'),
    clock: (verbs.has('tim') || verbs.has('time') || verbs.has('clock')) && !fields.some(({ required }) => required),
  };
}

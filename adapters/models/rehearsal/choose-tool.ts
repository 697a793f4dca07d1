/** Chooses a tool for a text by the words that it shares with names, descriptions and parameters. */

import { asRecord } from '../../../src/base/is-record.ts';
import { asList, type ModelCallOptions, own } from './conversation.ts';

/** One property of a tool's input, as far as this model reads its schema. Nothing in it is trusted. */
export interface Field {
  readonly name: string;
  /** The stems of the name. */
  readonly words: ReadonlySet<string>;
  readonly required: boolean;
  readonly kind: string;
  /** Title and description. */
  readonly hint: string;
  readonly choices: readonly (string | number)[];
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A tool as the model sees it in this call. */
export interface ActiveTool {
  readonly name: string;
  readonly description: string;
  /** The stems of the name. */
  readonly verbs: ReadonlySet<string>;
  /** The required ones first. */
  readonly fields: readonly Field[];
}

/** A tool that a text names, and how clearly. */
export interface Match {
  readonly tool: ActiveTool;
  readonly score: number;
}

/** Whether the text clearly names the tool, as with a distinctive word of its name. */
export function isPlain({ score }: Match): boolean {
  return score >= 1.5;
}

/** Returns the tools that can be called now. */
export function activeToolsOf({ tools = [], toolChoice }: ModelCallOptions): readonly ActiveTool[] {
  if (toolChoice?.type === 'none') return [];
  return tools.flatMap((tool) => {
    if (tool.type !== 'function' || (toolChoice?.type === 'tool' && toolChoice.toolName !== tool.name)) return [];
    const { name, description = '', inputSchema } = tool;
    return [{ name, description, verbs: stemsIn(name), fields: fieldsOf(inputSchema) }];
  });
}

/** Reads the properties of an object's schema. */
export function fieldsOf(schema: unknown, root: unknown = schema): readonly Field[] {
  const whole = resolved(schema, root);
  const required = asList(whole['required']);
  const fields = Object.entries(asRecord(whole['properties'])).slice(0, 100).map(([name, property]): Field => {
    const inner = resolved(property, root);
    const choices = ('const' in inner ? [inner['const']] : asList(inner['enum'])).slice(0, 500)
      .filter((value) => typeof value === 'string' || typeof value === 'number');
    const kind = [inner['type']].flat().find((type) => type !== 'null') ??
      ('properties' in inner ? 'object' : undefined);
    return {
      name,
      words: stemsIn(name),
      required: required.includes(name),
      kind: typeof kind === 'string' ? kind : typeof choices[0] === 'string' ? 'string' : 'any',
      hint: ['title', 'description'].map((key) => inner[key]).filter((text) => typeof text === 'string').join(' '),
      choices,
      schema: inner,
    };
  });
  return fields.toSorted((one, other) => Number(other.required) - Number(one.required));
}

/** A schema with what it refers to; of a union, its first member that is not null. */
function resolved(schema: unknown, root: unknown, hops = 0): Readonly<Record<string, unknown>> {
  const { $ref: ref, anyOf, oneOf, ...rest } = asRecord(schema);
  if (hops > 8) return rest;
  const union = [...asList(anyOf), ...asList(oneOf)].find((member) => own(member, 'type') !== 'null');
  const target = typeof ref === 'string' && ref.startsWith('#/')
    ? ref.slice(2).split('/').reduce<unknown>((value, key) => own(value, key), root)
    : union;
  return target === undefined ? rest : { ...resolved(target, root, hops + 1), ...rest };
}

/** "Show me all my notes" asks for a list. */
const shows = /^\s*(?:please\s+)?(?:show|see)\s+(?:me\s+)?(?:all\s+)?(?:of\s+)?(?=(?:my|the|our)\s+\p{L}+s\b)/iu;

/** Chooses among these tools, the best first. Equal tools go by their order. */
export function chooserOf(tools: readonly ActiveTool[]): (text: string) => readonly Match[] {
  const indexed = tools.map((tool) => ({ tool, weights: weightsOf(tool) }));
  const holders = new Map<string, number>();
  for (const { weights } of indexed) for (const word of weights.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  const rarity = (word: string): number =>
    Math.log(1 + tools.length / (holders.get(word) ?? Infinity)) / Math.log(1 + tools.length);
  return (text) => {
    const words = stemsOf(withoutOtherNames(text.replace(shows, 'list '), tools));
    const matches = indexed.map(({ tool, weights }): Match => {
      let score = specialtyOf(tool, text) + (isMentioned(text, tool.name) ? 5 : 0);
      for (const word of words) {
        const direct = (weights.get(word) ?? 0) * rarity(word);
        const related = Math.max(0, ...relativesOf(word).map((like) => (weights.get(like) ?? 0) * rarity(like)));
        score += Math.max(direct, related / 2);
      }
      const named = [...weights].filter(([, weight]) => weight === 2);
      return { tool, score: score + Number(named.length > 0 && named.every(([word]) => words.has(word))) };
    });
    return matches.filter(({ score }) => score >= 1).toSorted((one, other) => other.score - one.score);
  };
}

/** How much each word says about the tool: its name most, the texts of its parameters least. */
function weightsOf({ name, description, fields }: ActiveTool): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const word of stemsOf(text)) weights.set(word, Math.max(weight, weights.get(word) ?? 0));
  };
  add(name, 2);
  add(description, 1);
  for (const field of fields) {
    add(field.name, 0.8);
    add(`${field.hint} ${field.choices.join(' ')}`.slice(0, 2000), 0.5);
  }
  return weights;
}

const conversion =
  /\d\s*°?\p{L}{1,15}\s+(?:to|in|into|as)\s+°?\p{L}+|\bhow\s+(?:many|much)\s+\p{L}+\s+(?:are|is|in|make)\s+\d/iu;
const clockQuestion =
  /\btime\s+is\s+it\b|\bwhat(?:['’]?s|\s+is)\s+the\s+(?:current\s+)?time\b|\bwhat\s+day\s+is\s+(?:it|today)\b|\bcurrent\s+time\b/iu;
/** "What day was 1 January 2000", "what date is in 3 weeks". */
const dayQuestion = /\bwhat\s+(?:week)?(?:day|date)\s+(?:is|was|will\s+(?:it\s+)?be)\b.*\d/iu;

const countQuestion = /\bhow\s+many\s+(\p{L}+)\s+(?:are\s+)?in\b/iu;

/** What a tool's parameters say that it is good for, beyond words: arithmetic, conversions, counts of a text, the time. */
function specialtyOf({ fields, verbs, description }: ActiveTool, text: string): number {
  const has = (pattern: RegExp): boolean => fields.some(({ name }) => pattern.test(name));
  if (has(/^(?:expression|formula|equation)$/iu) && expressionIn(text) !== undefined) return 2.5;
  if (has(/^from/iu) && has(/^to/iu) && conversion.test(text)) return 1.5;
  const counted = countQuestion.exec(text)?.[1]?.toLowerCase();
  const counts = /\bcounts?\b/iu.test(description) && fields.some(({ name, required }) => required && name === 'text');
  if (counted !== undefined && counts && wordsOf(description).includes(counted)) return 1.5;
  if (has(/^date$/iu) && verbs.has(stem('date')) && dayQuestion.test(text)) return 1.5;
  const tells = (verbs.has('time') || verbs.has('tim') || verbs.has('clock')) &&
    !fields.some(({ required }) => required);
  return tells && clockQuestion.test(text) ? 1.5 : 0;
}

/** Whether the text says the tool's name as no ordinary word is: `tool_find`, or in quotes, or "use calculator". */
function isMentioned(text: string, name: string): boolean {
  if (!text.toLowerCase().includes(name.toLowerCase())) return false;
  const exact = escapeRegExp(name);
  const asking =
    '(?:^|[.;:,!?\\n]|\\b(?:use|using|call|run|invoke|execute|via|try|with|and|then|please|you))\\s*(?:the\\s+)?(?:tool\\s+)?[`"\'/]?';
  const pattern = /^[a-z]+$/i.test(name)
    ? `[\`"']${exact}[\`"']|\\b(?:use|using|call|with)\\s+(?:the\\s+)?${exact}\\b|\\b${exact}\\s+tool\\b|^\\s*/${exact}\\b`
    : `${asking}${exact}(?![\\w-])`;
  return new RegExp(pattern, 'iu').test(text);
}

/** The text without the names of tools that are the subject of a call: "describe tool_find" is not about finding. */
function withoutOtherNames(text: string, tools: readonly ActiveTool[]): string {
  return tools.filter(({ name }) => !/^[a-z]+$/i.test(name) && text.includes(name) && !isMentioned(text, name))
    .reduce((rest, { name }) => rest.replaceAll(name, ' '), text);
}

const operatorWords: readonly (readonly [RegExp, string])[] = [
  [/(?<=(?<![\d.,])\d{1,3}(?:,\d{3})*),(?=\d{3}(?!\d))/gu, ''], // 1,250,000
  [/(?<!\d)(\d+(?:\.\d+)?)\s*%\s+o[fn]\s+(\d+(?:\.\d+)?)/giu, '$1 / 100 * $2'],
  [/\bhalf\s+of\s+(\d+(?:\.\d+)?)/giu, '$1 / 2'],
  [/\bfactorial\s+of\s+(\d+)/giu, '$1!'],
  [/(?<=[\d)])\s+(?:to\s+the\s+power\s+of|raised\s+to)(?=\s+[\d(-])/giu, ' ^'],
  [/(?<=[\d)])\s+squared\b|²/giu, '^2'],
  [/(?<=[\d)])\s+cubed\b|³/giu, '^3'],
  [/(?<=\b[1-9]\d*)x(?=\d)/giu, ' * '],
  [/(?:the\s+)?square\s+root\s+of\s+(\d+(?:\.\d+)?)/giu, 'sqrt($1)'],
  [/\b(?:multiplied\s+by)\b|(?<=[\d)]\s)(?:times|x)(?=\s+[\d(-])|×/giu, '*'],
  [/\b(?:divided\s+by)\b|(?<=[\d)]\s)over(?=\s+[\d(-])|÷/giu, '/'],
  [/(?<=[\d)]\s)plus(?=\s+[\d(-])/giu, '+'],
  [/(?<=[\d)]\s)minus(?=\s+[\d(-])/giu, '-'],
];

/** Returns the longest arithmetic expression of a text, operators in words written as signs. */
export function expressionIn(text: string): string | undefined {
  const signs = operatorWords.reduce((changed, [pattern, sign]) => changed.replace(pattern, sign), text);
  const runs = signs.matchAll(/(?<![\p{L}\d_.-])(?:sqrt\(|[(\d-])(?:sqrt\(|[\d.,()+\-*/^%!\s])*/giu);
  const found = [...runs].map(([run]) => balanced(run)).filter((run) =>
    (/\d\s*\)*!?\s*[+*/^%-]\s*\(*-?\s*(?:\d|\(|[a-z]+\()|[a-z]\(.*\d.*\)/iu.test(run) || isFactorial(run, signs)) &&
    !/^\d{4}-\d{1,2}-\d{1,2}$|^\d{1,2}\/\d{1,2}\/\d{2,4}$/.test(run)
  );
  return found.toSorted((a, b) => b.length - a.length)[0];
}

/** "5!" and "what is 5!", but not "give me 5!". */
function isFactorial(run: string, text: string): boolean {
  return /^\d+!$/u.test(run) &&
    /^\s*(?:(?:what(?:[’']?s|\s+is)|calculate|compute|evaluate)\s+)?(?:the\s+)?\d+!\W*$/iu.test(text);
}

function balanced(run: string): string {
  let text = run.trim().replace(/[.,+\-*/^\s]+$/u, '');
  while (text.split(')').length > text.split('(').length && text.endsWith(')')) text = text.slice(0, -1).trim();
  return text;
}

/** A text as a pattern that matches it and nothing else. Runtimes of 2024 have no `RegExp.escape`. */
export function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

const stopWords = new Set(
  ('a about after again all also am an and any anything are around as at be been but by can could did do does doing each else every ' +
    'few for from get give given go going got had has have hello help her here hey hi him his how i if in into is it its just kindly ' +
    'know let like make many me more most much my need no not of off ok okay on once one only or other our out over own please see ' +
    'shall she should show so some something such tell than thank thanks that the their them then there these they thing things this ' +
    'those through to too up us use using very via want was we well were what when where which while who whose why will with would yes ' +
    'you your').split(' '),
);

const endings =
  'ations ation ators ator ating ated ates ate ions ion ings ing ments ment als al ers er ors or ed es s e ly'.split(
    ' ',
  );

/** Words that people exchange for one another when they speak of tools. */
const groups = [
  'weather forecast temperature rain sunny',
  'calculate compute math arithmetic evaluate solve calculator',
  'time clock date today hour',
  'find search look discover lookup seek',
  'create make add new insert register',
  'delete remove erase drop',
  'update change edit modify set rename',
  'list enumerate overview',
  'send mail email write message notify',
  'read fetch open retrieve download view page',
  'remember memorize save store keep note',
  'convert conversion exchange transform',
  'translate translation language',
  'add sum plus addition total',
].map((group) => group.split(' ').map(stem));

/** Returns the words of a text in order. */
export function wordsOf(text: string): readonly string[] {
  const split = text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  return split.toLowerCase().replace(/[’']s\b/gu, '').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Returns a word without its ending: `calculator`, `calculating` and `calculation` are one. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(word)) return word;
  const ending = endings.find((end) => word.endsWith(end) && word.length - end.length >= 3 + Number(end.length > 2));
  const base = ending === undefined ? word : word.slice(0, -ending.length);
  return base.length > 3 ? base.replace(/([bdfglmnprt])\1$/, '$1') : base;
}

/** Returns the stems of the words that carry meaning. */
export function stemsOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).filter((word) => !stopWords.has(word)).map(stem));
}

function stemsIn(name: string): ReadonlySet<string> {
  return new Set(wordsOf(name).map(stem));
}

/** Returns the stems of words with a like meaning, the stem itself among them. */
export function relativesOf(stemmed: string): readonly string[] {
  return [stemmed, ...groups.filter((group) => group.includes(stemmed)).flat()];
}

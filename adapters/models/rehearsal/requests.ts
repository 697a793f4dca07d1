/** Turns a stage of a message into calls: those that it spells out, or those that its parts ask for in words. */

import { type ActiveTool, chooserOf, escapeRegExp, isPlain, type Match, stemsOf } from './choose-tool.ts';
import { type Call, callOf, parseJson, stringify } from './conversation.ts';
import { cityZone, endOfJson, type Filled, fillInput, mask } from './fill-input.ts';

/** The calls that a stage asks for, and what it does not say. */
export interface Plan {
  readonly calls: readonly Call[];
  readonly questions: readonly string[];
}

const numbers = 'one two three four five six seven eight nine ten'.split(' ');
const count = `\\d{1,3}|${numbers.slice(1).join('|')}`;

function timesOf(text: string | undefined, isTwice = false): number {
  if (text === undefined) return isTwice ? 2 : 1;
  const value = numbers.indexOf(text.toLowerCase()) + 1 || Number(text);
  return Math.min(100, Math.max(1, value));
}

const opening = new RegExp(
  '(?<=^|[\\s,;(])(?:/(?<slash>[\\w.-]{1,128})[ \\t]*(?=[{[])|/(?<=^[ \\t]*/)(?<bare>[\\w.-]{1,128})[ \\t]*$|' +
    '(?<verb>(?:call|use|invoke|run|execute)\\s+)?(?:the\\s+)?(?:tool\\s+)?[`"\']?(?<name>[A-Za-z][\\w.-]{0,127})[`"\']?(?:\\s+tool)?' +
    `(?:\\s+(?<before>${count})\\s+times|\\s+(?<twice>twice))?(?:,?\\s+(?:with|using|on))?` +
    '(?:\\s+(?:the\\s+)?(?:input|arguments?|args|json|parameters?))?(?:\\s*:)?\\s*(?=[{]))',
  'gimu',
);

/** The calls that a message spells out, for rehearsing failures: their JSON is passed on unchanged, even if it is invalid. */
export function explicitCallsOf(message: string): readonly Call[] {
  const calls: Call[] = [];
  let from = 0;
  for (const found of message.matchAll(opening)) {
    const { slash, bare, verb, name = slash ?? bare ?? '', before, twice } = found.groups ?? {};
    const isSaid = verb !== undefined || slash !== undefined || bare !== undefined || calls.length > 0;
    if (found.index < from || !isSaid || /^(?:help|call|use|invoke|run|execute)$/iu.test(name)) continue;
    const start = found.index + found[0].length;
    const lineEnd = message.indexOf('\n', start);
    const end = bare === undefined ? endOfJson(message, start) ?? (lineEnd < 0 ? message.length : lineEnd) : start;
    const behind = new RegExp(`^\\s*,?\\s*(?:(${count})\\s+times|(twice)|[x×](\\d{1,3}))\\b`, 'iu').exec(
      message.slice(end, end + 40),
    );
    const times = timesOf(before ?? behind?.[1] ?? behind?.[3], (twice ?? behind?.[2]) !== undefined);
    const input = end === start ? '{}' : message.slice(start, end);
    calls.push(...Array.from({ length: times }, () => ({ toolName: name, input })));
    from = end;
  }
  return calls;
}

/** The stages of a message: what stands behind "then" waits for what stands before it. */
export function stagesOf(message: string): readonly string[] {
  if (message.length > 4000) return [message];
  const marks = /(?:^|[\s,;.]+)(?:and\s+)?(?:then|after\s+that|afterwards|finally)(?:,)?\s+/giu;
  return cut(message, marks).map(({ text }) => text);
}

interface Part {
  readonly text: string;
  /** The text between this part and the one before. */
  readonly joint: string;
}

/** Cuts at the marks, but never within a quoted phrase or JSON. */
function cut(text: string, marks: RegExp): readonly Part[] {
  const parts: Part[] = [];
  let [from, joint] = [0, ''];
  for (const found of mask(text).matchAll(marks)) {
    parts.push({ text: text.slice(from, found.index), joint });
    from = found.index + found[0].length;
    joint = text.slice(found.index, from);
  }
  parts.push({ text: text.slice(from), joint });
  return parts.filter((part) => part.text.trim() !== '');
}

interface Unit {
  readonly text: string;
  readonly match: Match;
}

/** Plans the calls of a stage. With `mustCall`, the first tool is called if none fits. */
export function planCalls(
  stage: string,
  { tools, results, mustCall }: {
    readonly tools: readonly ActiveTool[];
    readonly results: readonly unknown[];
    readonly mustCall: boolean;
  },
): Plan {
  const choose = chooserOf(tools);
  const calls: Call[] = [];
  const fill = (match: Match, text: string): Filled => {
    const meant = /\b(?:its?|them|their|that one|the same)\b/iu.test(text)
      ? calls.map(({ input }) => parseJson(input))
      : [];
    const mayGuess = isPlain(match);
    return fillInput(match.tool.fields, text, {
      results: mayGuess ? [...results, ...meant] : [],
      mayGuess,
      verbs: match.tool.verbs,
    });
  };
  const [first] = tools;
  const units = unitsOf(stage.slice(0, 4000), { choose, fill });
  const questions: string[] = [];
  for (
    const { match, text } of units.length === 0 && mustCall && first
      ? [{ text: stage, match: { tool: first, score: Infinity } }]
      : units
  ) {
    const repeated = new RegExp(
      `[\\s,]*\\b(?:(twice)|(${count})\\s+times)(?:\\s+in\\s+parallel)?(?=\\s*(?:[.!?;,]|$|with\\b))`,
      'iu',
    ).exec(mask(text));
    const repetitions = repeated ? timesOf(repeated[2], repeated[1] !== undefined) : 1;
    const isValue = Object.values(fill(match, text).input).includes(repetitions); // "four times" for a property `count`
    const { input, missing } = fill(match, repeated && !isValue ? text.replace(repeated[0], '') : text);
    if (missing.length > 0 && !mustCall) questions.push(questionFor(match, missing));
    else {
      const whole = missing.length > 0 ? { ...anyValues(missing), ...input } : input;
      calls.push(...Array.from({ length: isValue ? 1 : repetitions }, () => callOf(match.tool.name, whole)));
    }
  }
  return { calls, questions };
}

/** Any values of these properties: their defaults or examples, or the simplest of their kinds. */
export function anyValues(fields: Filled['missing']): Record<string, unknown> {
  const simplest: Readonly<Record<string, unknown>> = {
    number: 1,
    integer: 1,
    boolean: false,
    array: [],
    object: {},
    null: null,
  };
  return Object.fromEntries(fields.map(({ name, kind, choices, schema }) => {
    const [example] = [schema['examples']].flat();
    return [name, schema['default'] ?? example ?? choices[0] ?? simplest[kind] ?? 'text'];
  }));
}

function questionFor({ tool }: Match, missing: Filled['missing']): string {
  const lacks = missing.map(({ name, hint, schema }) => {
    const [example] = [schema['examples']].flat();
    return `\`${name}\`${hint && ` (${hint.slice(0, 200)})`}${
      example === undefined ? '' : `, for example \`${stringify(example).slice(0, 80)}\``
    }`;
  });
  return `To call \`${tool.name}\` I need ${lacks.join(' and ')}. Your message does not say it.`;
}

interface Reader {
  readonly choose: (text: string) => readonly Match[];
  readonly fill: (match: Match, text: string) => Filled;
}

/** The requests of a stage in their order. A part without a tool belongs to the one before, or repeats it with another value. */
function unitsOf(stage: string, reader: Reader): readonly Unit[] {
  const units: Unit[] = [];
  let before = '';
  for (
    const { text, joint } of cut(
      stage,
      /\s*[;\n]+\s*|(?<=[.?!])\s+(?=\p{Lu})|\s*,\s+(?:and\s+|also\s+)*|\s+(?:and|also|&)\s+(?:also\s+)?/giu,
    )
  ) {
    const last = units.at(-1);
    const match = bestMatch(text, reader);
    const isWhole = match !== undefined && reader.fill(match, text).missing.length === 0;
    if (!last) {
      if (match) units.push({ text: isWhole ? text : `${before}${joint}${text}`, match });
      else before += `${joint}${text}`;
      continue;
    }
    const ending = /\s(?:to|in|into)\s+\p{L}+\W*$/iu.exec(text)?.[0];
    if (isWhole && match.tool === last.match.tool && ending && reader.fill(last.match, last.text).missing.length > 0) {
      units.splice(-1, 1, { ...last, text: last.text + ending }, { text, match }); // "5 kg and 3 stone to pounds"
      continue;
    }
    const merged = { ...last, text: `${last.text}${joint}${text}` };
    const adds =
      stringify(reader.fill(last.match, merged.text).input) !== stringify(reader.fill(last.match, last.text).input);
    const isBare = text.trim().split(/\s+/u).length <= 3;
    const isSaid = match !== undefined && [...stemsOf(text)].some((word) => match.tool.verbs.has(word));
    const isOther = match !== undefined && match.tool !== last.match.tool;
    if (isWhole && (isOther ? isSaid || !adds || !isBare : !isBare || isSaid)) units.push({ text, match });
    else if (adds) units.splice(-1, 1, merged);
    else {
      const repeated = isBare ? withOtherValue(last, text, reader) : undefined;
      if (repeated !== undefined) units.push({ ...last, text: repeated });
      else if (isOther) units.push({ text, match });
      else units.splice(-1, 1, merged);
    }
  }
  const whole = units.length === 0 ? bestMatch(stage, reader) : undefined;
  return whole ? [{ text: stage, match: whole }] : units;
}

/** The best tool whose required inputs the text has, else the best that it clearly names. A choice alone, such as "add", is no input. */
function bestMatch(text: string, { choose, fill }: Reader): Match | undefined {
  const ranked = choose(text);
  const near = ranked.slice(0, 5).filter((match) =>
    match.score === ranked[0]?.score || (isPlain(match) && match.score * 2 >= (ranked[0]?.score ?? 0))
  );
  const complete = near.find((match) => {
    const { input, missing } = fill(match, text);
    const says = match.tool.fields.some(({ name, choices }) => choices.length === 0 && Object.hasOwn(input, name));
    return missing.length === 0 && (isPlain(match) || says);
  });
  return complete ?? (ranked[0] && isPlain(ranked[0]) ? ranked[0] : undefined);
}

/** "The weather in Paris" and then "Berlin": the same request with the last value replaced. */
function withOtherValue({ text, match }: Unit, part: string, { fill }: Reader): string | undefined {
  const other = part.trim().replace(/^(?:in|at|for|of|from|to|on|near)\s+(?:the\s+)?/iu, '').replace(/[.?!]+$/u, '');
  const isCity = cityZone(other) !== undefined;
  if (!isCity && !/^[\p{Lu}\d"“(-]|[\d_@/]/u.test(other)) return undefined;
  const head = text.replace(/[\s.?!]+$/u, '');
  const value = Object.values(fill(match, text).input).map(String).find((one) =>
    one !== '' && new RegExp(`${escapeRegExp(one)}["”]?$`, 'u').test(head)
  );
  const last = value === undefined && isCity
    ? /(?<=\b(?:in|at|for)\s)\p{L}[\p{L}’'-]*(?: \p{L}[\p{L}’'-]*){0,2}$/u
    : value === undefined
    ? /(?<=\b(?:in|at|for|of|from|to|on|near)\s)[\p{Lu}][\p{L}’'-]*(?: \p{Lu}[\p{L}’'-]*)*$/u
    : new RegExp(`["“]?${escapeRegExp(value)}["”]?$`, 'u');
  const changed = head.replace(last, () => other);
  return stringify(fill(match, changed).input) === stringify(fill(match, text).input) ? undefined : changed;
}

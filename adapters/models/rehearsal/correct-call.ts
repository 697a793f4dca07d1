/** A second try after a failure, when the error says what would have worked. */

import type { ActiveTool } from './choose-tool.ts';
import { stringify } from './conversation.ts';
import type { Outcome, PastCall } from './conversation.ts';
import type { Call } from './explicit-calls.ts';
import { fillInput } from './fill/fill-input.ts';
import { lookUp } from './look-up.ts';
import { asList, type Field, own } from './shape.ts';
import { asRecord } from '../../../src/base/is-record.ts';
import { allStemsOf } from './words.ts';
import { escapeRegExp } from './patterns.ts';

type Input = Readonly<Record<string, unknown>>;
type Entry = readonly [string, unknown];

interface Failed {
  readonly input: Input;
  /** What the error says, in words. */
  readonly text: string;
  /** What the error says, as data. */
  readonly data: unknown;
  readonly tool: ActiveTool | undefined;
  /** The stage of the message that led to the call. */
  readonly stage: string;
}

/** Returns a corrected call, or `undefined` where the error does not say how. */
export function correctedCall(
  call: PastCall,
  { outcome, tools, stage }: {
    outcome: Extract<Outcome, { kind: 'failure' }>;
    tools: readonly ActiveTool[];
    stage: string;
  },
): Call | undefined {
  const text = `${outcome.text}\n${outcome.data === undefined ? '' : stringify(outcome.data)}`.slice(0, 4000);
  const renamed = tools.find(({ name }) => name === newNameIn(text) && name !== call.toolName);
  const before = asRecord(call.input);
  if (renamed) return { toolName: renamed.name, input: JSON.stringify(before) };
  const tool = tools.find(({ name }) => name === call.toolName);
  const failed: Failed = { input: before, text, data: outcome.data, tool, stage };
  const input = corrections.reduce<Input>((current, correct) => correct({ ...failed, input: current }), before);
  return tool && stringify(input) !== stringify(before)
    ? { toolName: call.toolName, input: JSON.stringify(input) }
    : undefined;
}

function newNameIn(text: string): string | undefined {
  return /(?:now\s+(?:named|called)|renamed\s+to|did\s+you\s+mean|replaced\s+by)[\s:]+(?:the\s+tool\s+)?\\?["'`“]?([\w.-]+)/iu
    .exec(text)?.[1];
}

/** Each looks for one kind of advice and returns the input with it followed. */
const corrections: readonly ((failed: Failed) => Input)[] = [
  followFacts,
  followOptions,
  followBounds,
  followTypes,
  addMissing,
  dropUnknown,
];

/** The properties that the error speaks of; when it names none, and there is but one, that one. */
function blamed({ input, text, tool }: Failed): readonly Field[] {
  const fields = tool?.shape.fields() ?? [];
  const named = fields.filter(({ name }) => new RegExp(`(?<![\\w-])${escapeRegExp(name)}(?![\\w-])`, 'u').test(text));
  const present = fields.filter(({ name }) => Object.hasOwn(input, name));
  return named.length > 0 ? named : present.length === 1 ? present : [];
}

/** Facts in the error's data under a like name: the latest version, the id that exists. */
function followFacts({ input, text, data, tool }: Failed): Input {
  const facts: Record<string, unknown> = { ...asRecord(own(data, 'details')), ...asRecord(data) };
  for (
    const found of text.matchAll(
      /(?:latest|current|expected)[\s_-]?(version|revision|token|etag)["']?\s*(?:is|:|=)?\s*["'`]?([\w.-]+)/giu,
    )
  ) {
    facts[found[1] ?? ''] = found[2];
  }
  const news = (tool?.shape.fields() ?? []).filter(({ name }) => Object.hasOwn(input, name)).flatMap(
    ({ name, shape }): Entry[] => {
      const value = lookUp([facts], { words: meaningOf(name), shape });
      return value === undefined || value === input[name] ? [] : [[name, value]];
    },
  );
  // Correct only the token: another version in the same call, as in `undo`, is the call's subject.
  const tokens = news.filter(([name]) => /token/iu.test(name));
  return news.length === 0 ? input : { ...input, ...Object.fromEntries(tokens.length > 0 ? tokens : news) };
}

/** "Latest version" and "version token" are about a version. */
function meaningOf(name: string): ReadonlySet<string> {
  const words = allStemsOf(name);
  return words.has(versionWord) ? new Set([versionWord]) : words;
}

const [versionWord = 'version'] = allStemsOf('version');

/** "Must be one of …", "did you mean …", or a property for which the schema lists them: the option most like the value. */
function followOptions(failed: Failed): Input {
  const { input, text, data } = failed;
  const [suspect] = blamed(failed).filter(({ name }) => typeof input[name] === 'string');
  const quotes = Object.entries(input).find(([, value]) =>
    typeof value === 'string' && value !== '' && text.includes(`"${value}"`)
  );
  const said = [...listed(text), ...asList(own(data, 'suggestions') ?? own(own(data, 'details'), 'suggestions'))];
  const options = (said.length > 0 ? said : suspect?.shape.choices ?? []).filter((option) =>
    typeof option === 'string'
  );
  const name = suspect?.name ?? quotes?.[0];
  const value = name === undefined ? undefined : input[name];
  if (name === undefined || typeof value !== 'string' || options.length === 0 || options.includes(value)) return input;
  return { ...input, [name]: mostLike(value, options) };
}

/** Returns the quoted options, or those between commas, behind words that announce them. */
function listed(text: string): readonly string[] {
  const found =
    /\b(?:(?:one of|did you mean|expected|must be|allowed(?: values)?|available|valid (?:values|options)|such as|try|known|exist|are)\b[:\s(]+)+([^\n]{1,800})/iu
      .exec(text.replaceAll('\\"', '"'))?.[1]?.split(/\bbut\b|\breceived\b|\bgot\b/iu)[0] ?? '';
  const inQuotes = [...found.matchAll(/["'`“]([^"'`”]{1,100})["'`”]/gu)].map(([, option]) => option ?? '');
  if (inQuotes.length > 0) return inQuotes;
  const words = found.replace(/[.)\]].*$/u, '').split(/\s*(?:,|\||\bor\b|\band\b)\s*/u).filter((word) =>
    /^[\w/-]+$/u.test(word)
  );
  return words.length > 1 ? words : [];
}

function mostLike(value: string, options: readonly string[]): string {
  const common = (option: string): number => {
    const [one, other] = [value.toLowerCase(), option.toLowerCase()];
    let same = 0;
    while (same < one.length && one[same] === other[same]) same++;
    return same + (other.includes(one) ? one.length : 0) + allStemsOf(one).intersection(allStemsOf(other)).size * 4;
  };
  return options.reduce((best, next) => common(next) > common(best) ? next : best);
}

/** "At most 10", "at least 1", or a bound in the schema: the number moved to it, the text or list cut to it. */
function followBounds(failed: Failed): Input {
  const { input, text } = failed;
  const upper = boundIn(text, 'at most|no more than|maximum(?: is| of)?|<=|less than or equal to|up to|not exceed');
  const lower = boundIn(text, 'at least|no less than|minimum(?: is| of)?|>=|greater than or equal to');
  const moved = blamed(failed).flatMap(({ name, shape: { minimum, maximum } }): Entry[] => {
    const value = input[name];
    if (typeof value === 'number') return [[name, Math.max(lower ?? minimum, Math.min(upper ?? maximum, value))]];
    if (upper !== undefined && (typeof value === 'string' || Array.isArray(value))) {
      return [[name, value.slice(0, upper)]];
    }
    return [];
  });
  return { ...input, ...Object.fromEntries(moved) };
}

function boundIn(text: string, words: string): number | undefined {
  const found = new RegExp(`(?:${words})\\s*:?\\s*(-?\\d+(?:\\.\\d+)?)`, 'iu').exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** "Must be a number": the same value in the type that the schema wants. */
function followTypes(failed: Failed): Input {
  const { input } = failed;
  const cast = blamed(failed).flatMap(({ name, shape }): Entry[] => {
    const value = input[name];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN;
    if ((shape.kind === 'number' || shape.kind === 'integer') && !Number.isNaN(number)) return [[name, number]];
    if (shape.kind === 'integer' && typeof value === 'number') return [[name, Math.round(value)]];
    if (shape.kind === 'string' && typeof value === 'number') return [[name, String(value)]];
    if (shape.kind === 'array' && typeof value === 'string') return [[name, [value]]];
    return [];
  });
  return { ...input, ...Object.fromEntries(cast) };
}

/** "… is missing": the value from the message, or the schema's default or example. */
function addMissing(failed: Failed): Input {
  const { input, text, tool, stage } = failed;
  if (!tool || !/missing|required|undefined/iu.test(text)) return input;
  const lacking = blamed(failed).filter(({ name }) => input[name] === undefined);
  if (lacking.length === 0) return input;
  const filled =
    fillInput(tool.shape, stage, { results: [], verbs: tool.verbs, mayGuess: true, uniqueId: () => 'rehearsal-retry' })
      .input;
  const added = lacking.flatMap(({ name, shape }): Entry[] => {
    const value = own(filled, name) ?? shape.fallback ?? shape.examples[0];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...input, ...Object.fromEntries(added) };
}

/** "… is not known": the input without it. */
function dropUnknown({ input, text }: Failed): Input {
  if (
    !/not known|unknown (?:key|property|argument|parameter|field)|unrecognized|additional propert|unexpected (?:key|property)/iu
      .test(text)
  ) return input;
  return Object.fromEntries(
    Object.entries(input).filter(([name]) => !new RegExp(`["'\`.]${escapeRegExp(name)}["'\`]?`, 'u').test(text)),
  );
}

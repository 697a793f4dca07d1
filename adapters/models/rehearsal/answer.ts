/**
 * Decides what the scripted model answers. Rules, the first that applies:
 *
 * 1. Leading a plan: parts of the goal become sub-agents, their results the sum.
 * 2. A call that failed for the first time, with an error that says what would work, is made once more.
 * 3. At a tree, the phrases of changes; with sources of data, a query of them.
 * 4. The next stage of the message: calls that it spells out, then those that its words ask for. With `tool_find`, tools are found first.
 *    Several calls of a step are one program where `code_run` is active.
 * 5. Otherwise words: a report on the calls, questions, repeated words, filler text, small talk.
 *
 * The same options and seed produce the same answer. Ids of calls are unique in the conversation, and that of a second try names the
 * first, by which the next step knows not to try again.
 */

import { asRecord } from '../../../src/base/is-record.ts';
import { type ActiveTool, activeToolsOf, escapeRegExp, fieldsOf, stemsOf } from './choose-tool.ts';
import {
  asList,
  type Call,
  callOf,
  type Conversation,
  type ModelCallOptions,
  own,
  type PastCall,
  readConversation,
  stringify,
} from './conversation.ts';
import { fillInput } from './fill-input.ts';
import { isRetryOf, reportOn, sayFailure } from './report.ts';
import { anyValues, explicitCallsOf, type Plan, planCalls, stagesOf } from './requests.ts';
import {
  discovers,
  discoveryFor,
  isDiscovery,
  isInPlan,
  leaderCalls,
  loopOver,
  planTools,
  programOf,
  sourcesStep,
} from './scenes.ts';
import { echoOf, hashOf, longText, smallTalk, wantsWords, withFiles, wordsAskedFor } from './small-talk.ts';
import { treeStep } from './tree-phrases.ts';

export interface Answer {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly (Call & { readonly toolCallId: string })[];
  /** Whether the text is filler, of a length that the message asks for. */
  readonly isFiller?: boolean;
}

const nothing: Plan = { calls: [], questions: [] };
const program = 'code_run';

export function answer(options: ModelCallOptions, callerSeed: number): Answer {
  const all = activeToolsOf(options);
  const conversation = readConversation(options.prompt);
  const { message, past, steps } = conversation;
  const seed = String(options.seed ?? callerSeed);
  const mustCall = options.toolChoice?.type === 'required' || options.toolChoice?.type === 'tool';
  const ids = createIds(past, `call-${hashOf(`${seed}\n${message}`).toString(36)}`);
  const step = (text: string, calls: readonly Call[]): Answer => ({
    reasoning: '',
    text,
    calls: calls.map((call) => ({ ...call, toolCallId: ids(call) })),
  });
  const leads = isInPlan(conversation, all);
  const led = leads ? leaderCalls(options) : undefined;
  if (led) return step('', led);
  const mayProgram = all.some(({ name }) => name === program) && options.toolChoice?.type !== 'tool' &&
    !message.includes(program);
  const tools = all.filter(({ name }) => !(leads && planTools.has(name)) && !(mayProgram && name === program));
  const retries = retriesOf(conversation, tools);
  if (retries.length > 0) {
    const text = retries.map(({ why, toolName, input }) => `${why} I try once more: \`${toolName}\` with \`${input}\`.`)
      .join('\n\n');
    const calls = retries.map(({ why: _, ...call }) => ({
      ...call,
      toolCallId: `call-${past.length + 1}-retry-${call.toolCallId}`,
    }));
    return { reasoning: '', text, calls };
  }
  const scene = mustCall ? undefined : treeStep(conversation, tools) ??
    (steps.length === 0 &&
        (wantsWords(message, []) || echoOf(message) !== undefined || explicitCallsOf(message).length > 0)
      ? undefined
      : sourcesStep(conversation, tools));
  if (scene) return 'text' in scene ? step(scene.text, []) : step('', scene.calls);
  const loop = mayProgram && steps.length === 0 ? loopOver(message, tools) : undefined;
  const looks = discovers(tools, message);
  const hasFailed = steps.at(-1)?.some(({ outcome }) => outcome?.kind !== 'value') === true;
  const plan = hasFailed && !mustCall ? nothing : nextPlan(conversation, { tools, mustCall, looks });
  const code = loop ?? (mayProgram ? programOf(plan.calls) : undefined);
  if (code !== undefined) return step('', [callOf(program, { code })]);
  const reasoning = reasoningOf(plan, conversation, tools);
  if (plan.calls.length > 0) return { ...step('', plan.calls), reasoning };
  const { responseFormat: format } = options;
  if (format?.type === 'json') return { ...step(jsonAnswer(format.schema, conversation), []), reasoning };
  const text = wordsFor(plan, conversation, { seed, looks });
  const usable = looks ? tools.filter((tool) => !isDiscovery([{ toolName: tool.name }])) : tools;
  const said = conversation.files.length > 0
    ? withFiles(conversation.files, text)
    : text ?? smallTalk(message, { tools: usable, discovers: looks });
  return { ...step(said, []), reasoning, isFiller: wordsAskedFor(message) !== undefined };
}

/** Continues the count of the calls so far and skips every id in the conversation. */
function createIds(past: readonly PastCall[], prefix: string): (call: object) => string {
  const taken = new Set(past.map(({ toolCallId }) => toolCallId));
  return () => {
    let count = taken.size + 1;
    while (taken.has(`${prefix}-${count}`)) count++;
    taken.add(`${prefix}-${count}`);
    return `${prefix}-${count}`;
  };
}

/** The calls of the first remaining stage that asks for calls not made before. */
function nextPlan(
  conversation: Conversation,
  { tools, mustCall, looks }: {
    readonly tools: readonly ActiveTool[];
    readonly mustCall: boolean;
    readonly looks: boolean;
  },
): Plan {
  const { message, steps, results } = conversation;
  const stages = stagesOf(message);
  const acting = looks ? steps.filter((calls) => !isDiscovery(calls)) : steps;
  const done =
    acting.filter((calls, at) => !calls.every((call) => acting[at - 1]?.some((failed) => isRetryOf(call, failed))))
      .length;
  const made = new Set(steps.flat().map(({ toolName, input }) => `${toolName} ${stringify(input)}`));
  let questions: readonly string[] = [];
  for (const stage of stages.slice(done)) {
    let usable = tools;
    if (looks && stemsOf(stage).size > 1) {
      if (wantsWords(stage, tools) || wantsWords(message, tools)) return nothing;
      const next = discoveryFor(stage, steps);
      if (next !== null && typeof next !== 'string') return { calls: [next], questions: [] };
      usable = tools.filter(({ name }) => name === next);
    } else if (looks) usable = tools.filter(({ name }) => !isDiscovery([{ toolName: name }]));
    const explicit = usable.length > 0 ? explicitCallsOf(stage) : [];
    const plan = explicit.length > 0
      ? { calls: explicit, questions: [] }
      : usable.length === 0 || wantsWords(stage, usable)
      ? nothing
      : planCalls(stage, { tools: usable, results, mustCall: false });
    const isNew = plan.calls.some(({ toolName, input }) => !made.has(`${toolName} ${input}`));
    if (plan.calls.length > 0 && (isNew || done === 0)) return plan;
    if (questions.length === 0) questions = plan.questions;
  }
  return mustCall ? planCalls(message, { tools, results, mustCall }) : { calls: [], questions };
}

/** `undefined`: there is nothing to answer. */
function wordsFor(
  { questions }: Plan,
  { steps, message }: Conversation,
  { seed, looks }: { readonly seed: string; readonly looks: boolean },
): string | undefined {
  const calls = looks ? steps.filter((step) => !isDiscovery(step)) : steps;
  if (calls.length > 0) return [reportOn(calls), ...questions].join('\n\n');
  if (questions.length > 0) return questions.join('\n\n');
  const words = wordsAskedFor(message);
  if (words !== undefined) return longText(message, { words, seed });
  if (looks && steps.length > 0) return 'I looked for a tool that fits, and found none. Other words may find one.';
  return echoOf(message);
}

/** What the model "thinks" when it is asked to: how it chose the calls. */
function reasoningOf({ calls }: Plan, { steps, message }: Conversation, tools: readonly ActiveTool[]): string {
  const asks = /\bthink(?:ing)?\s+(?:about|first|hard|it\s+through|step|carefully|before|through|aloud|out\s+loud)\b/iu;
  if (steps.length > 0 || !asks.test(message)) return '';
  const names = tools.map(({ name }) => name).join(', ');
  const chosen = calls.map(({ toolName, input }) => `I choose ${toolName}, with ${input}.`);
  return [
    `I compare the words of the message with ${
      names === '' ? 'no tools: none is active' : `the active tools: ${names}`
    }.`,
    ...(chosen.length > 0 ? chosen : ['No tool fits, so I answer in words.']),
  ].join(' ');
}

/** Structured output is filled as a tool's input is. */
function jsonAnswer(schema: unknown, { message, results }: Conversation): string {
  const { input, missing } = fillInput(fieldsOf(schema), message, { results, mayGuess: true, verbs: new Set() });
  return JSON.stringify({ ...input, ...anyValues(missing) });
}

/** The calls of the last step that failed for the first time and whose errors say what would have worked. */
function retriesOf(
  { steps, message }: Conversation,
  tools: readonly ActiveTool[],
): readonly (Call & { readonly toolCallId: string; readonly why: string })[] {
  const before = steps.at(-2) ?? [];
  return (steps.at(-1) ?? []).flatMap((call) => {
    const { toolName, toolCallId, outcome } = call;
    const tool = tools.find(({ name }) => name === toolName);
    if (outcome?.kind !== 'failure' || !tool || before.some((failed) => isRetryOf(call, failed))) return [];
    const input = asRecord(call.input);
    const changes = {
      ...correctionOf(tool, input, outcome),
      ...schemaCorrectionOf(tool, input, { ...outcome, message }),
    };
    if (Object.entries(changes).every(([name, value]) => input[name] === value)) return [];
    const corrected = Object.entries({ ...input, ...changes }).filter(([, value]) => value !== undefined);
    return [{ ...callOf(toolName, Object.fromEntries(corrected)), toolCallId, why: sayFailure(call) }];
  });
}

/** What a check of the input said: a value of another type, a property that is missing, or one that is not known. */
function schemaCorrectionOf(
  { fields, verbs }: ActiveTool,
  input: Readonly<Record<string, unknown>>,
  { text, message }: { text: string; message: string },
): Readonly<Record<string, unknown>> {
  const named = (name: string): boolean => text.includes(`"${name}"`);
  if (/not known here/u.test(text)) {
    return Object.fromEntries(Object.keys(input).filter(named).map((name) => [name, undefined]));
  }
  const blamed = fields.filter(({ name }) => named(name));
  if (/is missing/u.test(text)) {
    const words = message.replaceAll(/[{[][^]*[}\]]/gu, ' '); // not the input that was spelled out
    const filled = fillInput(fields, words, { results: [], verbs, mayGuess: true }).input;
    return Object.fromEntries(blamed.flatMap(({ name, schema }) => {
      const value = own(filled, name) ?? schema['default'] ?? asList(schema['examples'])[0];
      return input[name] === undefined && value !== undefined ? [[name, value]] : [];
    }));
  }
  const texts = blamed.filter(({ name, kind }) => kind === 'string' && typeof input[name] === 'number');
  return Object.fromEntries(texts.map(({ name }) => [name, String(input[name])]));
}

/** The latest version, one of the values that the error lists, or a bound. */
function correctionOf(
  { fields }: ActiveTool,
  input: Readonly<Record<string, unknown>>,
  { text, data }: { text: string; data?: unknown },
): Readonly<Record<string, unknown>> {
  const version = own(data, 'latestVersion') ?? own(own(data, 'details'), 'latestVersion') ??
    /latest version is "?([\w.-]+)/iu.exec(text)?.[1];
  if (version !== undefined && 'versionToken' in input) return { versionToken: version };
  const present = fields.filter(({ name }) => name in input);
  const blamed = present.find(({ name }) => new RegExp(`(?<![\\w-])${escapeRegExp(name)}(?![\\w-])`, 'u').test(text)) ??
    present.find(({ name }) => typeof input[name] === 'string' && text.includes(`"${input[name]}"`)) ??
    (present.length === 1 ? present[0] : undefined);
  if (!blamed) return {};
  const value = input[blamed.name];
  if (typeof value === 'string' && /^(?:number|integer)$/.test(blamed.kind) && Number.isFinite(Number(value))) {
    return { [blamed.name]: Number(value) };
  }
  const [, bound, limit] = /(at most|at least|no more than|no less than)\s+(-?\d+(?:\.\d+)?)/iu.exec(text) ?? [];
  if (typeof value === 'number') return limit === undefined ? {} : { [blamed.name]: Number(limit) || bound };
  const listed =
    /\b(?:one of|did you mean|must be|such as|there (?:is|are)|(?:units|values|options) are|available|allowed)\b[:\s]*([^\n]{1,800})/iu
      .exec(
        text.replaceAll('\\"', '"'),
      )?.[1] ?? '';
  const quotedOptions = [...listed.matchAll(/["'`“]([^"'`”]{1,100})["'`”]/gu)].map(([, option = '']) => option);
  const plain = listed.replace(/[.)\]].*$/u, '').split(/\s*(?:,|\bor\b|\band\b)\s*/u).filter((one) =>
    /^[\w/-]+$/u.test(one)
  );
  const said = quotedOptions.length > 0 ? quotedOptions : plain.length > 1 ? plain : blamed.choices;
  const options = [...said, ...asList(own(data, 'suggestions'))].filter((option) => typeof option === 'string');
  if (typeof value !== 'string' || options.length === 0 || options.includes(value)) return {};
  const likeness = (option: string): number => {
    const same = option.split('').findIndex((letter, at) => letter.toLowerCase() !== value.charAt(at).toLowerCase());
    return (same < 0 ? option.length : same) + 4 * stemsOf(option).intersection(stemsOf(value)).size;
  };
  return { [blamed.name]: options.toSorted((one, other) => likeness(other) - likeness(one))[0] };
}

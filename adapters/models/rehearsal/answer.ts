/** Decides what the rehearsal model answers to a prompt. */

import { sourcesStep } from './ask-sources.ts';
import { type ActiveTool, activeToolsOf } from './choose-tool.ts';
import { stagesOf } from './clauses.ts';
import {
  type Conversation,
  type ModelCallOptions,
  type PastCall,
  readConversation,
  stringify,
} from './conversation.ts';
import { correctedCall } from './correct-call.ts';
import { isDiscovery, isSearch, mayDiscover, type Search, searchFor } from './discover.ts';
import { type Call, explicitCallsOf } from './explicit-calls.ts';
import { completed, fillInput } from './fill/fill-input.ts';
import { askFor, type Plan, planCalls, sharedWords } from './plan-calls.ts';
import { asksToThink, echoOf, longText, wordsAskedFor } from './prose.ts';
import { hashOf } from './random.ts';
import { isInPlan, leaderCalls, withoutPrimitives } from './lead-plan.ts';
import { isRetryOf, reportOn, sayFailure } from './report/report.ts';
import { readShape } from './shape.ts';
import { asksForWriting, cannotRead, isBeyondTools, isConversation, receipt, smallTalk } from './small-talk.ts';
import { treeStep } from './tree/request.ts';

/** A call with the id that it gets. */
export interface IdentifiedCall extends Call {
  readonly toolCallId: string;
}

/** One step of the model. */
export interface Answer {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly IdentifiedCall[];
  /** Whether the text is filler, of a length that the message asks for. */
  readonly isFiller?: boolean;
}

interface Situation {
  readonly conversation: Conversation;
  readonly tools: readonly ActiveTool[];
  readonly mustCall: boolean;
  readonly seed: string;
  /** The stages of the message. */
  readonly stages: readonly string[];
  /** How many of them were carried out. */
  readonly done: number;
  /** Whether tools have to be found first. */
  readonly discovers: boolean;
  /** How far that is. */
  readonly search: Search | undefined;
}

/** Decides on the answer. The same options and seed produce the same answer. */
export function answer(options: ModelCallOptions, seed: number): Answer {
  if (!isInPlan(options)) return answerAlone(options, seed);
  const calls = leaderCalls(options);
  if (!calls) return answerAlone(withoutPrimitives(options), seed);
  return { reasoning: '', text: '', calls: withIds(calls, readSituation(options, seed)) };
}

function answerAlone(options: ModelCallOptions, seed: number): Answer {
  const situation = readSituation(options, seed);
  const retries = retriesOf(situation);
  if (retries.calls.length > 0) return { reasoning: '', ...retries };
  const { conversation, tools, mustCall } = situation;
  const step = mustCall ? undefined : treeStep(conversation, tools) ?? sourcesStep(conversation, tools);
  if (step) return { reasoning: '', text: step.text ?? '', calls: withIds(step.calls ?? [], situation) };
  const plan = hasFailed(situation) && !situation.mustCall ? nothing : nextStep(situation);
  const reasoning = reasoningOf(plan, situation);
  if (plan.calls.length > 0) return { reasoning, text: '', calls: withIds(plan.calls, situation) };
  const { responseFormat: format } = options;
  return {
    reasoning,
    text: format?.type === 'json' ? jsonAnswer(format.schema, situation) : textOf(plan, situation),
    calls: [],
    isFiller: wordsAskedFor(conversation.message) !== undefined,
  };
}

const nothing: Plan = { calls: [], questions: [] };

function readSituation(options: ModelCallOptions, seed: number): Situation {
  const read = readConversation(options.prompt);
  const { message } = read;
  const active = activeToolsOf(options);
  const discovers = mayDiscover(active, message);
  const steps = discovers ? read.steps.filter((calls) => !isSearch(calls)) : read.steps;
  const stages = stagesOf(message);
  const done = steps.filter((calls, at) => !calls.every((call) => isRetry(call, steps[at - 1]))).length;
  return {
    conversation: { ...read, steps },
    tools: discovers ? active.filter((tool) => !isDiscovery(tool)) : active,
    discovers,
    search: discovers ? searchFor(stages[done] ?? message, read.steps) : undefined,
    mustCall: options.toolChoice?.type === 'required' || options.toolChoice?.type === 'tool',
    seed: String(options.seed ?? seed),
    stages,
    done,
  };
}

function isRetry(call: PastCall, before: readonly PastCall[] = []): boolean {
  return before.some((failed) => isRetryOf(call, failed));
}

/** The calls of the last step that failed for the first time and whose error says how to fix them. */
function retriesOf(
  { conversation: { steps, message, callIds }, tools, stages, done }: Situation,
): Pick<Answer, 'text' | 'calls'> {
  const last = steps.at(-1) ?? [];
  const taken = new Set(callIds);
  const retries = last.filter((call) => !isRetry(call, steps.at(-2))).flatMap((call) => {
    if (call.outcome?.kind !== 'failure') return [];
    const corrected = correctedCall(call, { outcome: call.outcome, tools, stage: stages[done - 1] ?? message });
    if (!corrected) return [];
    const toolCallId = `${freeId('call', taken)}-retry-${call.toolCallId}`;
    return [{ ...corrected, toolCallId, why: sayFailure(call.toolName, call.outcome) }];
  });
  const text = retries.map(({ why, toolName, input }) => `${why} I try once more: \`${toolName}\` with \`${input}\`.`)
    .join('\n\n');
  return { text, calls: retries.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input })) };
}

function hasFailed({ conversation: { steps } }: Situation): boolean {
  return steps.at(-1)?.some(({ outcome }) => outcome?.kind !== 'value') ?? false;
}

/** What to do next: the calls of a stage, or before them those that find a tool for it. */
function nextStep(situation: Situation): Plan {
  const { search, stages, done, tools, conversation: { message } } = situation;
  if (!search) return nextPlan(situation);
  const stage = stages[done];
  if (stage === undefined || isForWords(stage, tools) || isForWords(message, tools)) return nothing;
  if (search.state === 'calling') return { calls: [search.call], questions: [] };
  const found = tools.filter(({ name }) => search.state === 'found' && name === search.name);
  return nextPlan({ ...situation, tools: found });
}

/** Returns the calls of the first remaining stage that requests calls not made before. */
function nextPlan(situation: Situation): Plan {
  const { conversation: { steps, message }, stages, done, mustCall } = situation;
  const made = new Set(steps.flat().map(({ toolName, input }) => `${toolName} ${stringify(input)}`));
  let open = nothing;
  for (const stage of stages.slice(done)) {
    const plan = planStage(stage, { ...situation, mustCall: false });
    const isNew = plan.calls.some(({ toolName, input }) => !made.has(`${toolName} ${input}`));
    if (plan.calls.length > 0 && (isNew || done === 0)) return plan;
    if (open.questions.length === 0) open = plan;
  }
  return mustCall ? planStage(message, situation) : { calls: [], questions: open.questions };
}

function planStage(stage: string, { tools, conversation, mustCall, seed }: Situation): Plan {
  const explicit = explicitCallsOf(stage);
  if (explicit.length > 0 && tools.length > 0) return { calls: explicit, questions: [] };
  if (tools.length === 0 || (isForWords(stage, tools) && !mustCall)) return nothing;
  const count = conversation.callIds.size;
  const uniqueId = (index: number): string =>
    `rehearsal-${hashOf(`${seed}\n${conversation.message}`).toString(36)}-${count + index + 1}`;
  return planCalls(stage, { tools, results: conversation.results, uniqueId, mustCall });
}

/** Whether the text wants words, and no tool. */
function isForWords(text: string, tools: readonly ActiveTool[]): boolean {
  return wordsAskedFor(text) !== undefined || isConversation(text) || asksForWriting(text, tools) ||
    isBeyondTools(text, tools);
}

function withIds(calls: readonly Call[], { conversation, seed }: Situation): readonly IdentifiedCall[] {
  const taken = new Set(conversation.callIds);
  const prefix = `call-${hashOf(`${seed}\n${conversation.message}`).toString(36)}`;
  return calls.map((call) => ({ ...call, toolCallId: freeId(prefix, taken) }));
}

/** Continues the count of the calls so far and skips every id in the conversation. */
function freeId(prefix: string, taken: Set<string>): string {
  let count = taken.size + 1;
  while (taken.has(`${prefix}-${count}`)) count++;
  taken.add(`${prefix}-${count}`);
  return `${prefix}-${count}`;
}

function textOf(plan: Plan, situation: Situation): string {
  const { files } = situation.conversation;
  const text = answerText(plan, situation);
  if (files.length === 0) return text ?? smallTalk(situation.conversation.message, situation);
  return `${receipt(files)}\n\n${text ?? cannotRead}`;
}

/** `undefined`: there is nothing to answer. */
function answerText(
  { questions }: Plan,
  { conversation: { steps, message }, seed, search }: Situation,
): string | undefined {
  const questionTexts = questions.map(askFor);
  if (steps.length > 0) return [reportOn(steps), ...questionTexts].join('\n\n');
  if (questionTexts.length > 0) return questionTexts.join('\n\n');
  const words = wordsAskedFor(message);
  if (words !== undefined) return longText(message, { words, seed });
  if (search?.state === 'nothing') return 'I looked for a tool that fits, and found none. Other words may find one.';
  return echoOf(message);
}

/** What the model "thinks": how it chose the calls. */
function reasoningOf({ calls }: Plan, { conversation: { steps, message }, tools }: Situation): string {
  if (steps.length > 0 || !asksToThink(message)) return '';
  const names = tools.map(({ name }) => name).join(', ');
  const chosen = calls.map(({ toolName, input }) => {
    const tool = tools.find(({ name }) => name === toolName);
    const shared = tool ? sharedWords(message, tool).join(', ') : '';
    return `I choose ${toolName}${shared === '' ? '' : `, which shares the words ${shared}`}, with ${input}.`;
  });
  return [
    `I compare the words of the message with ${
      tools.length === 0 ? 'no tools: none is active' : `the active tools: ${names}`
    }.`,
    ...(chosen.length > 0 ? chosen : ['No tool fits, so I answer in words.']),
  ].join(' ');
}

/** Structured output is filled as a tool's input is. */
function jsonAnswer(schema: unknown, { conversation: { message, results } }: Situation): string {
  const shape = readShape(schema ?? {});
  const { input } = fillInput(shape, message, {
    results,
    verbs: new Set(),
    mayGuess: true,
    uniqueId: () => 'rehearsal-1',
  });
  return JSON.stringify(completed(shape, input));
}

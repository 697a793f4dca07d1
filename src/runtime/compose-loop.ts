/** The parts of a run's loop that come from its agent's code and the requested output. */

import type { LoopTerms, Resolution, RunContext } from './run-context.ts';
import type { Agent } from '../base/schema.ts';
import type { OutputSpec } from '../base/model-settings.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Report } from '../events/report.ts';
import { raceAbort } from '../base/until-aborted.ts';
import type { FinishedCall, FinishedStep, Instructions, InstructionsRequest, StopCondition } from './code-agent.ts';
import type { RunRequest } from './run-request.ts';
import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';

/**
 * Returns the agent with the instructions of this run, its structured answer, and its stop condition. The instructions are the same for
 * all runs of a chat: what one request adds stands behind its message.
 */
export async function composeLoop(
  resolution: Resolution,
  { principal, runId, report, abort: { signal } }: Pick<RunContext, 'principal' | 'runId' | 'report' | 'abort'>,
  known?: string,
): Promise<Pick<LoopTerms, 'agent' | 'output' | 'isEnough'> & { readonly made?: string }> {
  const { code, request: { agentId, chat, context, output: requested } } = resolution;
  const request = { agentId, chat, context, principal };
  const own = known === undefined
    ? await withInstructions(resolution.agent, code.instructions, request, { signal, report })
    : { ...resolution.agent, instructions: known };
  const isEnough = createStopCheck(code.stopWhen, report);
  const agent = own.output && !takesSchema(resolution) ? withOutput(own, own.output) : own;
  const spec = requested ?? agent.output;
  const made = own.instructions;
  if (!spec) return { agent, output: undefined, isEnough, made };
  // Loaded on demand: most runs answer in text.
  const { createRunOutput } = await import('./run-output.ts');
  return {
    agent,
    output: createRunOutput({ spec, check: requested ? undefined : code.checkOutput, runId, report }),
    isEnough,
    made,
  };
}

function withOutput(agent: Agent, spec: OutputSpec): Agent {
  const texts = [agent.instructions, outputInstructions(spec)];
  return { ...agent, instructions: texts.filter((text) => text !== '').join('\n\n') };
}

/** What a request asks of its own answer, where a model must be told. */
export function outputRequest(
  { output }: Pick<RunRequest, 'output'>,
  resolved: Pick<Resolution, 'provider' | 'fallbacks'>,
): string | undefined {
  return output && !takesSchema(resolved) ? outputInstructions(output) : undefined;
}

/** Tells a model what its last answer must be. For models that take no schema. */
function outputInstructions({ schema, name, description }: OutputSpec): string {
  return [
    'Your final answer must be one JSON value that fits the JSON Schema below, and nothing else: no explanation, no code fence.',
    ...(name === undefined ? [] : [`Name: ${name}`]),
    ...(description === undefined ? [] : [`Description: ${description}`]),
    JSON.stringify(schema),
  ].join('\n');
}

/** Whether every model that may answer takes the schema: the providers of fallbacks are not known yet. */
function takesSchema({ provider: { jsonSchema }, fallbacks }: Pick<Resolution, 'provider' | 'fallbacks'>): boolean {
  return jsonSchema === true && fallbacks.length === 0;
}

const mostMs = 2_000;
const mostLength = 65_536;

/** What a function is called with besides its request. */
interface InstructionsCall {
  readonly signal: AbortSignal;
  readonly report: Report;
}

/**
 * Returns the agent with the instructions of this run.
 *
 * @throws PinnaceError `internal` with the reason `instructions` when the function throws, returns no text, or takes longer than two
 * seconds; the signal's reason when it aborts.
 */
export async function withInstructions(
  agent: Agent,
  instructions: Instructions | undefined,
  request: InstructionsRequest,
  call: InstructionsCall,
): Promise<Agent> {
  if (!instructions) return agent;
  return { ...agent, instructions: await callWithin(instructions, request, call) };
}

async function callWithin(
  instructions: Instructions,
  request: InstructionsRequest,
  { signal, report }: InstructionsCall,
): Promise<string> {
  const own = new AbortController();
  const follow = (): void => own.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(() => own.abort(noInstructions(`it took longer than ${mostMs} ms`)), mostMs);
  try {
    const text: unknown = await raceAbort(called(instructions, request, { signal: own.signal, report }), own.signal);
    if (typeof text !== 'string') throw noInstructions('it returned no text');
    if (text.length > mostLength) throw noInstructions(`it returned more than ${mostLength} characters`);
    return text;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', follow);
  }
}

async function called(
  instructions: Instructions,
  request: InstructionsRequest,
  { signal, report }: InstructionsCall,
): Promise<unknown> {
  try {
    signal.throwIfAborted();
    return await instructions(request, { signal });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    report(cause, { kind: 'hook', id: 'instructions' });
    throw noInstructions('it threw an error', cause);
  }
}

function noInstructions(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('internal', `Cannot make the instructions of the agent by its function: ${why}`, {
    cause,
    details: { reason: 'instructions' },
  });
}

/** Creates the check that the loop makes after each step. It throws `internal` with the reason `stop_when` where the condition throws. */
function createStopCheck(stopWhen: StopCondition | undefined, report: Report): LoopTerms['isEnough'] {
  if (!stopWhen) return undefined;
  const steps: FinishedStep[] = [];
  return ({ text, finishReason, calls }, results) => {
    const byId = new Map(results.map((result) => [result.toolCallId, result]));
    steps.push({
      text,
      finishReason,
      calls: calls.map(({ toolCallId, toolName, input }): FinishedCall => ({
        toolCallId,
        toolName,
        input,
        ...resultOf(byId.get(toolCallId)),
      })),
    });
    return isMet(stopWhen, [...steps], report);
  };
}

function resultOf(result: LanguageModelV4ToolResultPart | undefined): Pick<FinishedCall, 'output' | 'isError'> {
  const { output } = result ?? {};
  return {
    ...(output && 'value' in output && { output: output.value }),
    isError: output?.type.startsWith('error-') === true,
  };
}

function isMet(stopWhen: StopCondition, steps: readonly FinishedStep[], report: Report): boolean {
  try {
    const met: unknown = stopWhen(steps);
    if (typeof met === 'boolean') return met;
  } catch (cause) {
    report(cause, { kind: 'hook', id: 'stopWhen' });
    throw undecided('it threw an error', cause);
  }
  throw undecided('it returned no boolean');
}

function undecided(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('internal', `Cannot decide by the function "stopWhen" of the agent: ${why}`, {
    cause,
    details: { reason: 'stop_when' },
  });
}

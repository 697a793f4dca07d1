/** Runs whose tools answer from recorded calls, and what recorded runs were started from. */

import { type ErrorData, fromData, PinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { Principal } from '../base/principal.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Storage } from '../contracts/storage.ts';
import { readJournal } from '../log/journal-record.ts';
import { programId, programPrefix, type ProgramState, readPast } from '../programs/program-record.ts';
import type { LostProgram, ProgramHome, RunOrigin, RuntimeParts } from '../runtime/run-context.ts';
import type { ForkedFrom } from '../runtime/run-record.ts';
import type { RecordedCalls, RecordedRun } from '../runtime/runtime.ts';
import { uncovered } from '../runtime/message-parts.ts';
import { createStepTools } from '../runtime/step-tools.ts';
import { loadedIn } from '../runtime/wrapped-calls.ts';
import { mayAct } from '../tools/call-ends.ts';
import { onChecked } from '../tools/define-tool.ts';
import { codeRunId } from '../tools/run-scope.ts';
import type { Tool } from '../tools/tool.ts';
import { type ParentRun, readParent } from './parent-run.ts';

/** Returns the inputs and the chunks of a run. @throws PinnaceError as `readParent`. */
export async function readRecorded(parts: RuntimeParts, principal: Principal, runId: string): Promise<RecordedRun> {
  const { basis: { request, agent }, items } = await readParent(parts, principal, { runId });
  return { request, agent, chunks: items.map(({ chunk }) => chunk) };
}

/** The origin of a run whose tools answer from recorded calls. */
export function recordedOrigin({ discovery }: RuntimeParts, { calls, effects }: RecordedCalls): RunOrigin {
  const own = new Set(discovery?.tools);
  const isReplaced = (tool: Tool): boolean =>
    effects !== 'live' && !own.has(tool) && (effects === 'recorded' || mayAct(tool.definition));
  return {
    resume(resolved, { principal }) {
      const { agent, toolSet, contextTokens, request: { chat } } = resolved;
      const tools = dryTools(toolSet.tools, recordedOutcomes(calls), isReplaced);
      const replaced = { ...toolSet, tools };
      const given = {
        agent,
        toolSet: replaced,
        discovery,
        contextTokens,
        principal,
        loaded: loadedIn(uncovered(chat.messages)),
      };
      const stepTools = createStepTools(given);
      return Promise.resolve({ ...resolved, toolSet: replaced, stepTools });
    },
  };
}

/** How a recorded call ended. */
type RecordedOutcome =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: PinnaceError };

/** The outcomes of an earlier run by tool and input; each is used once. */
interface RecordedOutcomes {
  take(toolName: string, input: unknown): RecordedOutcome | undefined;
}

/** Collects the outcomes of the calls in these chunks, and `inner`: those inside of programs, by the digests of tool and input. */
export function recordedOutcomes(
  chunks: readonly UIMessageChunk[],
  inner: ReadonlyMap<string, RecordedOutcome[]> = new Map(),
): RecordedOutcomes {
  const calls = new Map<string, string>();
  const outcomes = new Map<string, RecordedOutcome[]>();
  const add = (toolCallId: string, outcome: RecordedOutcome): void => {
    const key = calls.get(toolCallId);
    if (key === undefined) return;
    calls.delete(toolCallId);
    outcomes.set(key, [...outcomes.get(key) ?? [], outcome]);
  };
  for (const [i, chunk] of chunks.entries()) {
    if (chunk.type === 'tool-input-available') calls.set(chunk.toolCallId, keyOf(chunk.toolName, chunk.input));
    if (chunk.type === 'tool-output-available' && chunk.preliminary !== true) {
      add(chunk.toolCallId, { ok: true, output: chunk.output });
    }
    if (chunk.type === 'tool-output-error') {
      add(chunk.toolCallId, {
        ok: false,
        error: errorOf(chunks[i + 1]) ?? new PinnaceError('internal', chunk.errorText),
      });
    }
  }
  return {
    take(toolName, input) {
      const key = keyOf(toolName, input);
      return outcomes.get(key)?.shift() ?? (inner.size > 0 ? inner.get(sha256Sync(key))?.shift() : undefined);
    },
  };
}

function keyOf(toolName: string, input: unknown): string {
  return `${toolName}\n${canonicalJson(input)}`;
}

/** The error of the call before it, as the log has it. */
function errorOf(chunk: UIMessageChunk | undefined): PinnaceError | undefined {
  if (chunk?.type !== 'data-tool-error' || !('data' in chunk)) return undefined;
  return fromData(chunk.data as ErrorData); // `toolErrorPart` alone writes it
}

/** Returns the tools with some replaced. These need no approval: nothing happens. */
export function dryTools(
  tools: readonly Tool[],
  recorded: RecordedOutcomes,
  isReplaced: (tool: Tool) => boolean,
): readonly Tool[] {
  return tools.map((tool) => isReplaced(tool) ? dryTool(tool, recorded) : tool);
}

function dryTool(tool: Tool, recorded: RecordedOutcomes): Tool {
  const { definition, check } = tool;
  const { id, name, annotations } = definition;
  const { approval: _, secrets: __, ...rest } = definition;
  return {
    definition: { ...rest, secrets: [], annotations: { ...annotations, readOnlyHint: true, destructiveHint: false } },
    // The record has inputs as the model wrote them.
    check: (input) => onChecked(check(input), (checked) => checked.ok ? { ok: true, input } : checked),
    ...(tool.isAvailable && { isAvailable: tool.isAvailable }),
    execute(input) {
      const outcome = recorded.take(name, input);
      if (!outcome) throw notRecorded(id);
      if (outcome.ok) return outcome.output;
      throw outcome.error;
    },
  };
}

function notRecorded(toolId: string): PinnaceError {
  return new PinnaceError(
    'forbidden',
    `Tool "${toolId}" was not called: this run changes nothing, and the earlier run has no outcome for this input`,
    { details: { reason: 'fork_dry' } },
  );
}

/** Returns the programs that a lost run executed, also those that have ended before their run did. */
export async function findLostPrograms(parent: ProgramsOf, storage: Storage): Promise<readonly LostProgram[]> {
  const runIds = runIdsOf(parent); // a run that continued it may have been lost before it went on
  const stored = await storedPrograms(parent, parent.items.map(({ chunk }) => chunk), storage);
  return stored.flatMap(({ toolCallId, home, state: { driver } }) =>
    driver !== undefined && runIds.includes(driver) ? [{ toolCallId, home }] : []
  );
}

/** Returns the outcomes of the calls inside of the programs in these chunks, by the digests of tool and input. */
export async function programOutcomes(
  parent: ProgramsOf,
  chunks: readonly UIMessageChunk[],
  storage: Storage,
): Promise<ReadonlyMap<string, RecordedOutcome[]>> {
  const found = new Map<string, RecordedOutcome[]>();
  for (const { home } of await storedPrograms(parent, chunks, storage)) {
    const { outs } = await readPast(storage, programPrefix(home.runId, home.id));
    for (const out of outs) {
      const outcome: RecordedOutcome = out.ok
        ? { ok: true, output: out.output }
        : { ok: false, error: fromData({ code: out.code, message: out.message, retryable: false }) };
      found.set(out.digest, [...found.get(out.digest) ?? [], outcome]);
    }
  }
  return found;
}

type ProgramsOf = Pick<ParentRun, 'runId' | 'state' | 'items'>;

interface StoredProgram extends LostProgram {
  readonly state: ProgramState;
}

async function storedPrograms(
  parent: ProgramsOf,
  chunks: readonly UIMessageChunk[],
  storage: Storage,
): Promise<readonly StoredProgram[]> {
  const all = callsIn(parent.items.map(({ chunk }) => chunk));
  const codes = new Map(callsIn(chunks).map(({ toolCallId, input }) => [toolCallId, codeOf(input)]));
  const found = await Promise.all([...codes].map(async ([toolCallId, code]) => {
    const uses = all.filter((call) => call.toolCallId === toolCallId).length;
    const stored = await Promise.all(
      placesOf(runIdsOf(parent), { toolCallId, uses }).map(async (home) => {
        const head = (await readJournal<ProgramState>(storage, programPrefix(home.runId, home.id)))?.head;
        return head?.state.codeDigest === sha256Sync(code) ? [{ toolCallId, home, state: head.state }] : [];
      }),
    );
    return stored.flat().slice(0, 1);
  }));
  return found.flat();
}

type InputChunk = Extract<UIMessageChunk, { type: 'tool-input-available' }>;

function callsIn(chunks: readonly UIMessageChunk[]): readonly InputChunk[] {
  return chunks.flatMap((chunk) =>
    chunk.type === 'tool-input-available' && chunk.toolName === codeRunId ? [chunk] : []
  );
}

function codeOf(input: unknown): string {
  const code = isRecord(input) ? input['code'] : undefined;
  return typeof code === 'string' ? code : '';
}

/** The run and those whose log it shares. */
function runIdsOf({ runId, state: { parent } }: ProgramsOf): readonly string[] {
  return [...new Set([runId, ...ancestors(parent)])];
}

function ancestors(parent: ForkedFrom | undefined): readonly string[] {
  return parent ? [parent.runId, ...parent.prefix.map(({ runId }) => runId)] : [];
}

/** Models use the id of a call again: the number of earlier uses distinguishes the journals of a run. */
function placesOf(
  runIds: readonly string[],
  { toolCallId, uses }: { readonly toolCallId: string; readonly uses: number },
): readonly ProgramHome[] {
  const ordinals = Array.from({ length: uses }, (_, ordinal) => ordinal);
  return runIds.flatMap((runId) => ordinals.map((n) => ({ runId, id: programId(toolCallId, n) })));
}

/** Runs whose tools answer from recorded calls, and what recorded runs were started from. */

import { type ErrorData, fromData, PinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Principal } from '../base/principal.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Storage } from '../contracts/storage.ts';
import { programPrefix, readPast, storedPrograms } from '../programs/program-record.ts';
import type { RunOrigin, RuntimeParts } from '../runtime/run-context.ts';
import type { RecordedCalls, RecordedRun } from '../runtime/runtime.ts';
import { uncovered } from '../runtime/message-parts.ts';
import { createStepTools } from '../runtime/step-tools.ts';
import { loadedIn } from '../runtime/wrapped-calls.ts';
import { mayAct } from '../tools/call-ends.ts';
import { onChecked } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool.ts';
import type { ParentRun } from '../runtime/resume-run.ts';
import { readParent } from './parent-run.ts';

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

/** Returns the outcomes of the calls inside of the programs in these chunks, by the digests of tool and input. */
export async function programOutcomes(
  parent: ParentRun,
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

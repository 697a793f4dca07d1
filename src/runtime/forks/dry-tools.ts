/** Tools that change nothing: calls that may act are answered from the record of an earlier run. */

import { onChecked } from '../../tools/define-tool.ts';
import { type ErrorData, fromData, PinnaceError } from '../../base/errors.ts';
import { sha256Sync } from '../../base/sha256-sync.ts';
import { canonicalJson } from '../../base/json.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Tool } from '../../tools/tool.ts';

/** How a recorded call ended. */
export type RecordedOutcome =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: PinnaceError };

/** The outcomes of an earlier run by tool and input; each is used once. */
export interface RecordedOutcomes {
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

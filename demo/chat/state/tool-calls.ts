/** The tool calls of one answer, as they are followed while it streams. */

import { createToolPart, isSettled, type Part, type ToolCall, type ToolPart } from './message.ts';
import type { LogLine, ToolFailure } from './run-data.ts';

/** The most log lines of a card; older ones are dropped. */
export const maxLogLines = 200;

/** The calls by id. A chunk about an unknown call creates it. */
export interface ToolCalls {
  get(toolCallId: string): ToolPart;
  update(toolCallId: string, change: Partial<ToolCall>): void;
  /** Updates the call, which has come to its end. */
  settle(toolCallId: string, change: Partial<ToolCall>): void;
  fail(failure: ToolFailure): void;
  log(toolCallId: string, line: LogLine): void;
  /** Ends the calls that have no outcome, with the answer. */
  settleAll(): void;
  /** Forgets the calls whose parts were dropped. */
  forgetAllBut(parts: readonly Part[]): void;
}

interface ToolCallsOptions {
  /** Appends a part to the answer. */
  readonly add: (part: Part) => void;
  readonly now: () => number;
  /** The calls that the answer already has: a run that continues after an approval updates them. */
  readonly known?: readonly Part[];
}

/** Creates the calls of one answer. */
export function createToolCalls({ add, now, known = [] }: ToolCallsOptions): ToolCalls {
  const calls = new Map(known.flatMap((part) => part.type === 'tool' ? [[part.toolCallId, part] as const] : []));

  function get(toolCallId: string): ToolPart {
    const found = calls.get(toolCallId);
    if (found) return found;
    const part = createToolPart(toolCallId, { name: '', dynamic: false, state: 'starting', startedAt: now() });
    calls.set(toolCallId, part);
    add(part);
    return part;
  }

  function update(toolCallId: string, change: Partial<ToolCall>): void {
    const { call } = get(toolCallId);
    call.value = { ...call.value, ...change };
  }

  return {
    get,
    update,
    settle: (toolCallId, change) => update(toolCallId, { ...change, endedAt: now() }),
    fail(failure) {
      const { name } = get(failure.toolCallId).call.value;
      update(failure.toolCallId, { failure, name: name || failure.tool });
    },
    log(toolCallId, line) {
      const { logs } = get(toolCallId);
      logs.value = [...logs.value.slice(1 - maxLogLines), line];
    },
    settleAll: () => calls.values().forEach(({ call }) => void (call.value = settled(call.value, now()))),
    forgetAllBut(parts) {
      const stored = new Set<Part>(parts);
      for (const [toolCallId, part] of calls) if (!stored.has(part)) calls.delete(toolCallId);
    },
  };
}

/** What waits for a person goes on waiting. */
function settled(call: ToolCall, endedAt: number): ToolCall {
  if (isSettled(call.state) || call.state === 'waiting') return call;
  return { ...call, state: call.failure ? 'error' : 'stopped', endedAt };
}

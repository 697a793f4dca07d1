/** Translates tool calls and their results into events of AG-UI. */

import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import type { AguiEvent } from './agui-types.ts';

interface OpenCall {
  readonly toolCallId: string;
  hasArgs: boolean;
}

/**
 * Creates the translator. `parent` returns the message that a call belongs to. A call of `known` is part of the client's thread, which
 * would add its input to the one that it has: only its result is sent.
 */
export function createAguiTools(known: ReadonlySet<string>, parent: () => string | undefined) {
  const open = new Map<string, OpenCall>();
  const start = (toolCallId: string, toolCallName: string): AguiEvent => {
    open.set(toolCallId, { toolCallId, hasArgs: false });
    const parentMessageId = parent();
    return {
      type: 'TOOL_CALL_START',
      toolCallId,
      toolCallName,
      ...(parentMessageId !== undefined && { parentMessageId }),
    };
  };
  const args = (toolCallId: string, delta: string): readonly AguiEvent[] => {
    const call = open.get(toolCallId);
    if (!call || delta === '') return [];
    call.hasArgs = true;
    return [{ type: 'TOOL_CALL_ARGS', toolCallId, delta }];
  };
  const end = (toolCallId: string): readonly AguiEvent[] =>
    open.delete(toolCallId) ? [{ type: 'TOOL_CALL_END', toolCallId }] : [];
  /** The whole call, where its input was not streamed. */
  const whole = ({ toolCallId, toolName, input }: InputChunk): readonly AguiEvent[] => {
    if (known.has(toolCallId)) return [];
    const opened = open.has(toolCallId) ? [] : [start(toolCallId, toolName)];
    const rest = open.get(toolCallId)?.hasArgs === true ? [] : args(toolCallId, JSON.stringify(input) ?? '{}');
    return [...opened, ...rest, ...end(toolCallId)];
  };
  return {
    closeAll: (): readonly AguiEvent[] => [...open.keys()].flatMap(end),
    of(chunk: UIMessageChunk): readonly AguiEvent[] {
      switch (chunk.type) {
        case 'tool-input-start':
          return known.has(chunk.toolCallId) ? [] : [start(chunk.toolCallId, chunk.toolName)];
        case 'tool-input-delta':
          return args(chunk.toolCallId, chunk.inputTextDelta);
        case 'tool-input-available':
          return whole(chunk);
        case 'tool-input-error':
          return [...whole(chunk), result(chunk.toolCallId, { error: chunk.errorText })];
        case 'tool-output-available':
          return chunk.preliminary === true ? [] : [result(chunk.toolCallId, chunk.output)];
        case 'tool-output-error':
          return [result(chunk.toolCallId, { error: chunk.errorText })];
        case 'tool-output-denied':
          return [result(chunk.toolCallId, { error: 'The call was denied' })];
        default:
          return [];
      }
    },
  };
}

interface InputChunk {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

function result(toolCallId: string, output: unknown): AguiEvent {
  const content = typeof output === 'string' ? output : JSON.stringify(output) ?? '';
  return { type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}-result`, toolCallId, content, role: 'tool' };
}

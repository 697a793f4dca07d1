/** Reads the tool calls of a model: which tool, and with which input. */

import type { LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { PinnaceError } from '../../base/errors.ts';
import { isRecord } from '../../base/is-record.ts';
import { wellFormed } from '../../base/well-formed.ts';

/** A tool call as the model made it. */
export interface ParsedCall<Tool> {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The parsed input; the text, where it is not JSON. */
  readonly input: unknown;
  readonly providerMetadata?: SharedV4ProviderMetadata | undefined;
  readonly providerExecuted?: boolean | undefined;
  readonly dynamic?: boolean | undefined;
  /** Absent for calls that the provider executes, and for unknown tools. */
  readonly tool?: Tool | undefined;
  /** Why the call cannot be made. */
  readonly error?: PinnaceError | undefined;
}

/** What a call is read with. */
export interface ParseOptions<Tool> {
  readonly find: (name: string) => Tool | undefined;
  /** The error for an unknown name. */
  readonly missing: (name: string) => PinnaceError;
  /** Whether the answer has this very call already. */
  readonly isRepeated: boolean;
}

/** Parses a call. A call that cannot be made has an `error`, which the model receives as its result. */
export function parseCall<Tool>(
  { toolCallId, toolName, input: text, providerExecuted, dynamic, providerMetadata }: LanguageModelV4ToolCall,
  { find, missing, isRepeated }: ParseOptions<Tool>,
): ParsedCall<Tool> {
  const isTooLong = text.length > maxInputLength;
  const json = isTooLong ? { ok: false as const } : parseInput(text);
  const call = {
    toolCallId,
    toolName,
    input: json.ok ? json.value : isTooLong ? {} : text,
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...(providerMetadata !== undefined && { providerMetadata }),
  };
  if (providerExecuted === true) {
    return { ...call, ...(dynamic === true && { dynamic }), ...(!json.ok && { error: notJson() }) };
  }
  const tool = find(toolName);
  if (!tool) return { ...call, dynamic: true, error: missing(toolName) };
  if (isRepeated) return { ...call, tool, error: repeated() };
  if (isTooLong) return { ...call, tool, error: inputTooLong() };
  return json.ok ? { ...call, tool } : { ...call, tool, error: notJson() };
}

/** The most text of an input: an event of a run holds it. Tools and their definitions may allow less. */
const maxInputLength = 1_000_000;

function inputTooLong(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot call the tool: its input is longer than ${maxInputLength}; send it in several calls`,
    { details: { reason: 'input_too_large', inputLength: maxInputLength } },
  );
}

function parseInput(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  if (/^\s*(?:null\s*)?$/.test(text)) return { ok: true, value: {} }; // tools without parameters: some models send `null`
  try {
    // A key that reaches a prototype must not become part of an input; an escape may spell it.
    const isPlain = !/__proto__|constructor|\\u/.test(text);
    return { ok: true, value: isPlain ? JSON.parse(text) : wellFormed(JSON.parse(text, refuseReservedKey)) };
  } catch {
    return { ok: false };
  }
}

function refuseReservedKey(key: string, value: unknown): unknown {
  const reachesPrototype = key === 'constructor' && isRecord(value) && Object.hasOwn(value, 'prototype');
  if (key === '__proto__' || reachesPrototype) throw new SyntaxError('reserved key');
  return value;
}

function notJson(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot call the tool: its input is not JSON', {
    details: { reason: 'input_not_json' },
  });
}

function repeated(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'The tool was not called again: another call of this answer has the same id, tool and input',
    {
      details: { reason: 'duplicate_call' },
    },
  );
}

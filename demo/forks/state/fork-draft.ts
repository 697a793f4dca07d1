/** What a person changes of a run before they fork it, as texts in fields. */

import type { UIMessage } from '../../../src/contracts/ai-types.ts';
import type { ForkChanges, ForkOptions } from '../../../src/runtime/runtime.ts';
import type { RunInputs } from '../../control/runs-control.ts';
import type { RunSteps, StepCall } from './run-steps.ts';

export interface ForkDraft {
  readonly atStep: number;
  readonly instructions: string;
  readonly providerId: string;
  readonly model: string;
  /** At step 1 in place of the last message; later a new one before the step. */
  readonly message: string;
  /** By the ids of the calls: JSON, or a text where the output was one. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly effects: 'dry' | 'live';
}

/** The form as a request; or what is wrong, by the names of the fields. */
export type ReadDraft =
  | { readonly ok: true; readonly options: ForkOptions }
  | { readonly ok: false; readonly problems: Readonly<Record<string, string>> };

/** The form before a person changes it: as the run was, as far as that is known. */
export function draftAt(atStep: number, run: RunSteps, inputs: RunInputs | undefined): ForkDraft {
  return {
    atStep,
    instructions: inputs?.instructions ?? '',
    providerId: inputs?.providerId ?? '',
    model: inputs?.model ?? '',
    message: atStep === 1 ? textOf(inputs?.message) : '',
    outputs: Object.fromEntries(editableCalls(run, atStep).map((call) => [call.id, writtenOutput(call)])),
    effects: 'dry',
  };
}

/** The calls before a step whose outputs can be changed. */
export function editableCalls({ steps }: Pick<RunSteps, 'steps'>, atStep: number): readonly StepCall[] {
  return steps.slice(0, atStep - 1).flatMap(({ calls }) => calls.filter(({ outcome }) => outcome.type === 'output'));
}

/** The field's text of an output. */
function writtenOutput({ outcome }: StepCall): string {
  if (outcome.type !== 'output') return '';
  return typeof outcome.output === 'string' ? outcome.output : JSON.stringify(outcome.output, null, 2) ?? '';
}

/** Reads the form: only what differs from the run is a change. */
export function readDraft(
  draft: ForkDraft,
  run: RunSteps,
  { inputs, createId }: { readonly inputs: RunInputs | undefined; readonly createId: () => string },
): ReadDraft {
  const first = draftAt(draft.atStep, run, inputs);
  const outputs = readOutputs(draft, run, first);
  if (!outputs.ok) return outputs;
  const isOtherModel = draft.providerId !== first.providerId || draft.model !== first.model;
  if (isOtherModel && draft.providerId.trim() === '') {
    return { ok: false, problems: { providerId: 'Enter the id of a provider.' } };
  }
  const model = draft.model.trim();
  const changes: ForkChanges = {
    ...(draft.instructions !== first.instructions && { instructions: draft.instructions }),
    ...(isOtherModel && { model: { providerId: draft.providerId.trim(), ...(model !== '' && { modelId: model }) } }),
    ...(draft.message.trim() !== '' && draft.message !== first.message && {
      message: messageOf(draft, inputs, createId),
    }),
    ...(Object.keys(outputs.changed).length > 0 && { toolOutputs: outputs.changed }),
  };
  const isChanged = Object.keys(changes).length > 0;
  return { ok: true, options: { atStep: draft.atStep, effects: draft.effects, ...(isChanged && { changes }) } };
}

function readOutputs(
  { outputs, atStep }: ForkDraft,
  run: RunSteps,
  first: ForkDraft,
): { readonly ok: true; readonly changed: Record<string, unknown> } | Extract<ReadDraft, { readonly ok: false }> {
  const changed: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const { id, outcome } of editableCalls(run, atStep)) {
    const text = outputs[id] ?? '';
    if (text === first.outputs[id]) continue;
    const value = outcome.type === 'output' && typeof outcome.output === 'string'
      ? { ok: true, value: text }
      : readJson(text);
    if (value.ok) changed[id] = value.value;
    else problems[id] = 'Enter JSON, such as { "value": 42 }.';
  }
  return Object.keys(problems).length > 0 ? { ok: false, problems } : { ok: true, changed };
}

function readJson(text: string): { readonly ok: boolean; readonly value?: unknown } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

/** The files of the message that is replaced stay with it. */
function messageOf({ atStep, message }: ForkDraft, inputs: RunInputs | undefined, createId: () => string): UIMessage {
  const known = atStep === 1 ? inputs?.message : undefined;
  const files = known?.parts.filter(({ type }) => type === 'file') ?? [];
  return { id: known?.id ?? createId(), role: 'user', parts: [{ type: 'text', text: message }, ...files] };
}

function textOf(message: UIMessage | undefined): string {
  return message?.parts.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n') ?? '';
}

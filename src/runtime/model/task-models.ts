/** The models of a plan's task: a fallback that has taken over in one step goes on in the next. */

import { isRecord } from '../../base/is-record.ts';
import type { SpanContext } from '../../events/span.ts';
import { leaveProvider } from '../messages/leave-provider.ts';
import type { ModelMessage } from '../messages/model-messages.ts';
import type { FallbackModel, ResolvedModel } from '../resolve/resolve-model.ts';
import type { ModelChainOptions } from './model-chain.ts';

/** A fallback that has taken over. */
interface TakenOver {
  readonly providerId: string;
  readonly modelId: string;
}

/** What a task keeps of its model calls. */
export interface TaskHistory {
  readonly messages: ModelMessage[];
  readonly model?: TakenOver | undefined;
}

/** Reads what `writeTaskHistory` returned, which was stored as JSON. */
export function readTaskHistory(history: unknown): TaskHistory {
  const { messages, model } = isRecord(history) ? history : { messages: history ?? [], model: undefined };
  return { messages: [...messages as ModelMessage[]], model: model as TakenOver | undefined }; // ours of the last step
}

/** The history of a task that is with its first model is its messages, as earlier versions wrote it. */
export function writeTaskHistory({ messages, model }: TaskHistory): unknown {
  return model ? { messages, model } : messages;
}

/** Returns the models for the next step. Without the fallback of the last one, its parts leave the messages. */
export async function taskModels(
  { messages, model }: TaskHistory,
  { first, fallbacks, spanContext }: Pick<ModelChainOptions, 'fallbacks'> & {
    readonly first: ResolvedModel;
    readonly spanContext: SpanContext;
  },
): Promise<Pick<ModelChainOptions, 'first' | 'fallbacks'> & { readonly isOther: boolean }> {
  if (!model) return { first, fallbacks, isOther: false };
  const at = fallbacks.findIndex((fallback) => isSame(fallback, model));
  const resolved = await fallbacks[at]?.resolve(spanContext).catch(() => undefined);
  if (resolved) return { first: resolved, fallbacks: fallbacks.slice(at + 1), isOther: true };
  leaveProvider(messages);
  return { first, fallbacks, isOther: false };
}

function isSame({ providerId, model }: FallbackModel, last: TakenOver): boolean {
  return providerId === last.providerId && (model === undefined || model === last.modelId);
}

/** Hands the messages that arrive while a run works to its model. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { toData } from '../../base/errors.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { SpanContext, SpanEnd } from '../../events/span.ts';
import type { Inbox } from '../steering/inbox.ts';
import { runEnded, type SteeringMessage } from '../steering/message.ts';
import { deliveredChunk, undeliveredChunk } from '../steering/message-record.ts';

/** The messages to a running loop. */
export interface Steering {
  /** Appends what has arrived to the prompt. Returns the chunks that show it; their record is the delivery. */
  deliver(prompt: LanguageModelV4Message[]): readonly UIMessageChunk[];
  /** Whether a step follows the last one for messages that wait. Otherwise the run accepts none from now on. */
  continues(isPossible: boolean): boolean;
  /** Accepts nothing any more. Returns the chunks of what was accepted and not delivered. */
  close(): readonly UIMessageChunk[];
}

/** Creates the steering of a run. */
export function createSteering(
  inbox: Inbox,
  { runId, spans, metrics }: {
    readonly runId: string;
    readonly spans: { readonly current: SpanContext };
    readonly metrics: Pick<Metrics, 'count'>;
  },
): Steering {
  const observe = ({ id: messageId }: SteeringMessage, state: string, how: Pick<SpanEnd, 'status' | 'error'>): void => {
    metrics.count('pinnace_steering_messages_total', { state });
    const target = { type: 'run', id: runId };
    spans.current.emit({ action: 'run.message', target, ...how, payload: { messageId, state } });
  };
  return {
    deliver(prompt) {
      if (inbox.isEmpty || awaitsProvider(prompt)) return none;
      dropEmptyAnswer(prompt);
      return inbox.take().map((message) => {
        prompt.push({ role: 'user', content: message.parts.map(({ text }) => ({ type: 'text', text })) });
        observe(message, 'delivered', { status: 'ok' });
        return deliveredChunk(message);
      });
    },
    continues(isPossible) {
      if (isPossible) return inbox.staysOpen();
      inbox.close();
      return false;
    },
    close: () =>
      inbox.close().map((message) => {
        observe(message, 'undelivered', { status: 'error', error: toData(runEnded()) });
        return undeliveredChunk(message);
      }),
  };
}

const none: readonly UIMessageChunk[] = [];

/** Whether a call of the provider's own tool has no result yet: nothing may come between the two. */
function awaitsProvider(prompt: readonly LanguageModelV4Message[]): boolean {
  const last = prompt.findLast(({ role }) => role === 'assistant' || role === 'user');
  if (last?.role !== 'assistant') return false;
  const settled = new Set(last.content.flatMap((part) => part.type === 'tool-result' ? [part.toolCallId] : []));
  return last.content.some((part) =>
    part.type === 'tool-call' && part.providerExecuted === true && !settled.has(part.toolCallId)
  );
}

/** Providers refuse a message without content before another one. */
function dropEmptyAnswer(prompt: LanguageModelV4Message[]): void {
  const last = prompt.at(-1);
  if (last?.role === 'assistant' && last.content.length === 0) prompt.pop();
}

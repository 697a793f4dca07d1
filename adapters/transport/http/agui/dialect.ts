/** A run's stream in the events of AG-UI. */

import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import type { SseDialect } from '../sse.ts';
import { createAguiEvents } from './agui-events.ts';
import type { AguiInput } from './agui-input.ts';
import type { AguiEvent } from './agui-types.ts';

export { aguiRequest, decideResumed } from './agui-request.ts';

/** Creates the dialect of one stream. */
export function createAguiDialect({ threadId, runId, state, messages, tools = [] }: AguiInput): SseDialect {
  const offeredTools = tools.map(({ name }) => name);
  const knownCalls = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
  const events = createAguiEvents({ threadId, runId, state, offeredTools, knownCalls });
  const framesOf = (given: readonly AguiEvent[]): string =>
    given.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return {
    // Safe: the runtime has recorded the text as a chunk.
    frames: ({ text }) => framesOf(events.next(JSON.parse(text) as UIMessageChunk)),
    end: () => framesOf(events.end()),
  };
}

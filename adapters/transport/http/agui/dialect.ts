/** A run's stream in the events of AG-UI. */

import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import type { SseDialect } from '../sse.ts';
import { createAguiEvents } from './agui-events.ts';
import type { AguiInput } from './agui-input.ts';
import type { AguiEvent } from './agui-types.ts';

export { aguiRequest, decideResumed } from './agui-request.ts';

/** Creates the dialect of one stream. */
export function createAguiDialect({ threadId, runId, state, tools = [] }: AguiInput): SseDialect {
  const events = createAguiEvents({ threadId, runId, state, offeredTools: tools.map(({ name }) => name) });
  const framesOf = (given: readonly AguiEvent[]): string =>
    given.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return {
    // Safe: the runtime has recorded the text as a chunk.
    frames: ({ text }) => framesOf(events.next(JSON.parse(text) as UIMessageChunk)),
    end: () => framesOf(events.end()),
  };
}

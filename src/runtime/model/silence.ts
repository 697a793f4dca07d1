/** How long a model may be silent, by what it does. */

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelClock, SilenceLimit } from './model-clock.ts';

/**
 * Returns the function that takes what a model sends, and restarts the time that it may be silent. Each part is a sign of life, also
 * a keep-alive without content (`ping`, `raw`); a `stream-start` is none, because the AI SDK adds it itself.
 */
export function createSilenceWatch(
  { received }: Pick<ModelClock, 'received'>,
): (parts: readonly LanguageModelV4StreamPart[]) => void {
  let limit: SilenceLimit = 'firstChunkMs';
  return (parts) => {
    let isAlive = false;
    for (const { type } of parts) {
      isAlive ||= type !== 'stream-start';
      limit = limitAfter(type, limit);
    }
    if (isAlive) received(limit);
  };
}

/** Outside a text or a tool input a model may reason without sending anything. */
function limitAfter(type: LanguageModelV4StreamPart['type'], limit: SilenceLimit): SilenceLimit {
  switch (type) {
    case 'text-start':
    case 'text-delta':
    case 'tool-input-start':
    case 'tool-input-delta':
      return 'chunkMs';
    case 'stream-start':
    case 'response-metadata':
    case 'ping':
    case 'raw':
      return limit;
    default:
      return 'reasoningMs';
  }
}

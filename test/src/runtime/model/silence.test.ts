import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import type { SilenceLimit } from '../../../../src/runtime/run-clock.ts';
import { createSilenceWatch } from '../../../../src/runtime/model-stream.ts';

/** The limits that hold after each of these batches; none where the batch is no sign of life. */
function limitsAfter(
  ...batches: readonly (readonly LanguageModelV4StreamPart[])[]
): readonly (SilenceLimit | undefined)[] {
  let last: SilenceLimit | undefined;
  const watch = createSilenceWatch({ received: (within) => void (last = within) });
  return batches.map((parts) => {
    last = undefined;
    watch(parts);
    return last;
  });
}

describe('createSilenceWatch', () => {
  it('takes a keep-alive before any output as a sign of life', () => {
    const limits = limitsAfter([{ type: 'ping' }], [{ type: 'raw', rawValue: {} }], [{ type: 'response-metadata' }]);
    expect(limits).toEqual(['firstChunkMs', 'firstChunkMs', 'firstChunkMs']);
  });

  it('takes the part that the AI SDK adds before the answer as none', () => {
    expect(limitsAfter([{ type: 'stream-start', warnings: [] }])).toEqual([undefined]);
  });

  it('allows the silence of reasoning while the model reasons, and between its texts and calls', () => {
    const limits = limitsAfter(
      [{ type: 'reasoning-start', id: 'r' }, { type: 'reasoning-delta', id: 'r', delta: 'Hm' }],
      [{ type: 'reasoning-end', id: 'r' }],
      [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'I look.' }],
      [{ type: 'text-end', id: 't' }],
      [{ type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{}' }],
    );
    expect(limits).toEqual(['reasoningMs', 'reasoningMs', 'chunkMs', 'reasoningMs', 'reasoningMs']);
  });

  it('allows the shorter silence in a text and in a tool input, also after a keep-alive', () => {
    const limits = limitsAfter(
      [{ type: 'text-start', id: 't' }],
      [{ type: 'ping' }],
      [{ type: 'text-end', id: 't' }, { type: 'tool-input-start', id: 'c', toolName: 'add' }],
      [{ type: 'tool-input-delta', id: 'c', delta: '{' }],
    );
    expect(limits).toEqual(['chunkMs', 'chunkMs', 'chunkMs', 'chunkMs']);
  });
});

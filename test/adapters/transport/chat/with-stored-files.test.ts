import { describe, expect, it } from 'vitest';
import { withStoredFiles } from '../../../../adapters/transport/chat/chat-transport.ts';
import type { UIMessage } from '../../../../src/index.ts';

const inline = { type: 'file' as const, mediaType: 'text/csv', url: 'data:text/csv;base64,YQ==' };
const stored = (data: object) => ({ type: 'data-attachment' as const, data });

describe('withStoredFiles', () => {
  it('names stored files by their addresses, and leaves all other parts', () => {
    const messages: UIMessage[] = [
      { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Read' }, inline, inline] },
      { id: 'm2', role: 'assistant', parts: [stored({ messageId: 'm1', part: 1, url: 'pinnace-blob:abc' })] },
      { id: 'm3', role: 'user', parts: [{ type: 'text', text: 'And this' }, inline] },
    ];
    const [first, second, third] = withStoredFiles(messages);
    expect(first?.parts).toEqual([{ type: 'text', text: 'Read' }, { ...inline, url: 'pinnace-blob:abc' }, inline]);
    expect(second).toEqual(messages[1]);
    expect(third).toEqual(messages[2]);
    expect(messages[0]?.parts[1]).toBe(inline);
  });

  it('ignores announcements that are none', () => {
    const messages: UIMessage[] = [
      { id: 'm1', role: 'user', parts: [inline] },
      { id: 'm2', role: 'assistant', parts: [stored({}), stored({ messageId: 'm1', part: 0, url: 7 })] },
    ];
    expect(withStoredFiles(messages)).toEqual(messages);
  });
});

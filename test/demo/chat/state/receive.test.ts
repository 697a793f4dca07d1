import { describe, expect, it } from 'vitest';
import { answerText } from '../../../../demo/chat/state/message.ts';
import { receive } from '../../../fixtures/page/receive.ts';

const id = 't';

/** A `data-run` chunk. */
function run(state: string, error?: object): object {
  return { type: 'data-run', id: 'r', data: { runId: 'r', traceId: 'x', state, ...(error && { error }) } };
}

describe('createReceiver, text', () => {
  it('starts a text whose start did not arrive', () => {
    expect(answerText(receive({ type: 'text-delta', id, delta: 'late' }))).toBe('late');
  });

  it('starts another text when an id is used again after its end', () => {
    const answer = receive(
      ...['one', 'two'].flatMap((delta) => [
        { type: 'text-start', id },
        { type: 'text-delta', id, delta },
        { type: 'text-end', id },
      ]),
    );
    expect(answerText(answer)).toBe('one\n\ntwo');
  });

  it('keeps a text and a reasoning with the same id apart', () => {
    const answer = receive(
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta: 'hmm' },
      { type: 'text-delta', id, delta: 'yes' },
      { type: 'reasoning-end', id },
    );
    expect(answer.parts.value).toMatchObject([
      { type: 'reasoning', text: { value: 'hmm' }, done: { value: true } },
      { type: 'text', text: { value: 'yes' }, done: { value: false } },
    ]);
  });

  it('ends what is open with its step', () => {
    const answer = receive({ type: 'start-step' }, { type: 'text-delta', id, delta: 'a' }, { type: 'finish-step' });
    expect(answer.parts.value).toMatchObject([{ type: 'step' }, { type: 'text', done: { value: true } }]);
  });

  it('drops the parts of a step that is reset', () => {
    const answer = receive(
      { type: 'start-step' },
      { type: 'text-delta', id, delta: 'kept' },
      { type: 'finish-step' },
      { type: 'start-step' },
      { type: 'text-delta', id, delta: 'dropped' },
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'add' },
      { type: 'reset-step' },
      { type: 'text-delta', id, delta: 'again' },
      { type: 'tool-output-available', toolCallId: 'c', output: 2 },
    );
    expect(answer.parts.value.map(({ type }) => type)).toEqual(['step', 'text', 'step', 'text', 'tool']);
    expect(answerText(answer)).toBe('kept\n\nagain');
  });
});

describe('createReceiver, data and ends', () => {
  const error = { code: 'unavailable', message: 'No', retryable: false, details: { reason: 'provider_auth' } };

  it.each<[string, readonly object[], object]>([
    ['completes', [{ type: 'finish', finishReason: 'stop' }], { type: 'done', finishReason: 'stop' }],
    ['is stopped', [{ type: 'abort', reason: 'x' }], { type: 'stopped', by: 'runtime' }],
    ['fails with the error of the run', [run('failed', error), { type: 'error', errorText: 'No' }], {
      type: 'failed',
      error,
    }],
    ['fails with a text alone', [{ type: 'error', errorText: 'No' }], {
      type: 'failed',
      error: { code: 'internal', message: 'No' },
    }],
    ['reaches a limit', [run('stopped', error), { type: 'finish', finishReason: 'tool-calls' }], {
      type: 'limited',
      error,
    }],
    ['waits for a person', [run('awaiting_approval'), { type: 'finish' }], { type: 'waiting' }],
  ])('an answer %s', (_, chunks, expected) => {
    expect(receive(...chunks).outcome.value).toMatchObject(expected);
  });

  it('takes nothing in after the end', () => {
    const answer = receive({ type: 'finish' }, { type: 'text-delta', id, delta: 'late' }, {
      type: 'error',
      errorText: 'late',
    });
    expect(answer.parts.value).toEqual([]);
    expect(answer.outcome.value.type).toBe('done');
  });

  it.each([
    { type: 'from-the-future', id },
    { type: 'data-plan', data: { tasks: [] } },
    { type: 'data-run', data: 'malformed' },
    { type: 'data-run' },
    { type: 'data-tool-log', data: { text: 1 } },
    { type: 'constructor', data: {} },
    { type: '__proto__', data: {} },
    { type: 'text-end', id: 'unknown' },
    { type: 'text-delta', id },
    { type: 'tool-approval-response', approvalId: 'unknown', approved: true },
    { type: 'start', messageId: 'm' },
    { type: 'message-metadata', messageMetadata: {} },
    { type: 'custom', kind: 'a.b' },
  ])('leaves alone what it does not know: $type', (chunk) => {
    const answer = receive(chunk);
    expect(answer.parts.value).toEqual([]);
    expect(answer.facts.value).toEqual({});
    expect(answer.outcome.value.type).toBe('running');
  });

  it('lists sources and files', () => {
    const answer = receive(
      { type: 'source-url', sourceId: 's', url: 'https://example.org/a' },
      { type: 'source-document', sourceId: 's', mediaType: 'text/plain', title: 'Log' },
      { type: 'file', url: 'data:image/png;base64,', mediaType: 'image/png' },
    );
    expect(answer.parts.value).toEqual([
      { type: 'source', title: 'https://example.org/a', url: 'https://example.org/a' },
      { type: 'source', title: 'Log' },
      { type: 'file', url: 'data:image/png;base64,', mediaType: 'image/png' },
    ]);
  });
});

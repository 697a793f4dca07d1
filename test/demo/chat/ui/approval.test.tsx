import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { mount, type Page, send } from '../../../fixtures/page/playground.tsx';

let page: Page;

afterEach(() => page.unmount());

const facts = 'Call Tool a (a)\nnoteId: "note-1"';

function waitFor(toolCallId: string): void {
  page.transport.write(
    { type: 'tool-input-available', toolCallId, toolName: 'a', input: { noteId: 'note-1' } },
    { type: 'tool-approval-request', toolCallId, approvalId: `apr_${toolCallId}`, reason: facts },
  );
}

/** Asks for something that makes these calls wait. */
async function ask(...toolCallIds: readonly string[]): Promise<void> {
  await send(page, 'Delete it');
  page.transport.write({ type: 'data-run', data: { runId: 'run-1', state: 'running' } });
  toolCallIds.forEach(waitFor);
  page.transport.write(
    { type: 'data-run', data: { runId: 'run-1', state: 'awaiting_approval' } },
    { type: 'finish', finishReason: 'tool-calls' },
  );
  page.transport.close();
  await page.find('awaiting');
}

const states = (): readonly (string | undefined)[] => page.all('tool-card').map(({ dataset }) => dataset['state']);

async function untilSent(count: number): Promise<void> {
  await vi.waitFor(() => expect(page.transport.sent).toHaveLength(count));
}

describe('a call that waits for a person', () => {
  it.each([
    [{ fourEyes: true }, 'Another person must decide.', 0],
    [{ fourEyes: true, approvers: ['role:finance'] }, 'Another person must decide: role:finance.', 0],
    [{ approvers: ['role:finance', 'subject:bo'] }, 'Only these may decide: role:finance, subject:bo.', 1],
  ])('says who decides where that is not the one who has asked: %o', async (terms, text, buttons) => {
    page = await mount();
    await send(page, 'Pay it');
    page.transport.write(
      { type: 'data-run', data: { runId: 'run-1', state: 'running' } },
      { type: 'tool-input-available', toolCallId: 'c1', toolName: 'a', input: {} },
      {
        type: 'tool-approval-request',
        toolCallId: 'c1',
        approvalId: 'apr_c1',
        approvalDescriptor: { tool: 'Tool a (a)', fields: [], ...terms },
      },
      { type: 'data-run', data: { runId: 'run-1', state: 'awaiting_approval' } },
      { type: 'finish', finishReason: 'tool-calls' },
    );
    page.transport.close();
    expect((await page.find('approval-others')).textContent).toBe(text);
    expect([page.all('approve').length, page.all('deny').length]).toEqual([buttons, buttons]);
  });

  async function askAbout(...previews: readonly object[]): Promise<void> {
    await send(page, 'Delete them');
    page.transport.write({ type: 'data-run', data: { runId: 'run-1', state: 'running' } });
    previews.forEach((preview, at) => {
      const fields = [{ key: '"noteId"', value: '"note-4"', declared: true, path: ['noteId'] }];
      page.transport.write(
        { type: 'tool-input-available', toolCallId: `c${at}`, toolName: 'a', input: { noteId: 'note-4' } },
        {
          type: 'tool-approval-request',
          toolCallId: `c${at}`,
          approvalId: `apr_c${at}`,
          approvalDescriptor: { title: 'Delete a note', tool: 'Delete a note (a)', fields, ...preview },
        },
      );
    });
    page.transport.write(
      { type: 'data-run', data: { runId: 'run-1', state: 'awaiting_approval' } },
      { type: 'finish', finishReason: 'tool-calls' },
    );
    page.transport.close();
    await page.find('awaiting');
  }

  it('names the thing under a fixed title, with what changes, and folds the exact call', async () => {
    page = await mount();
    await askAbout(
      { quote: 'Buy rope and paint', changes: [{ label: 'Notebook', before: 'Ship', after: '' }], moreChanges: 2 },
      { noPreview: true },
    );
    const [described, plain] = page.all('approval');
    expect(described?.querySelector('h3')?.textContent).toBe('Delete a note: “Buy rope and paint”');
    const cells = [...described?.querySelectorAll('tbody tr') ?? []].map((row) =>
      [...row.children].map(({ textContent }) => textContent)
    );
    expect(cells).toEqual([['Notebook', 'Ship', 'nothing'], ['and 2 more']]);
    const exact = described?.querySelector('details');
    expect([exact?.open, exact?.querySelector('summary')?.textContent]).toEqual([false, 'Exact call']);
    expect(exact?.textContent).toContain('"noteId""note-4"');
    expect(plain?.querySelector('h3')?.textContent).toBe('Delete a note?');
    expect(plain?.querySelector('dl')?.textContent).toBe('Note idnote-4');
    expect(plain?.querySelector('summary')?.textContent).toBe('No preview. Exact call');
  });

  it('decides on several calls at once', async () => {
    page = await mount();
    await askAbout({ quote: 'One' }, { quote: 'Two' }, { quote: 'Three', fourEyes: true });
    await page.pressButton('Approve all 2');
    await vi.waitFor(() =>
      expect(page.transport.decided).toEqual([
        { runId: 'run-1', approvalId: 'apr_c0', approved: true },
        { runId: 'run-1', approvalId: 'apr_c1', approved: true },
      ])
    );
    expect(page.transport.sent).toHaveLength(1); // another person has to decide on the third
  });

  it('denies several calls at once', async () => {
    page = await mount();
    await askAbout({ quote: 'One' }, { quote: 'Two' });
    await page.pressButton('Deny all');
    await untilSent(2);
    expect(page.transport.decided.map(({ approved }) => approved)).toEqual([false, false]);
  });

  it('shows every field in view, undeclared ones marked, and opens a long value on request', async () => {
    page = await mount();
    await send(page, 'Delete it');
    const body = `${'x'.repeat(400)}\u202E`;
    page.transport.write(
      { type: 'data-run', data: { runId: 'run-1', state: 'running' } },
      { type: 'tool-input-available', toolCallId: 'c1', toolName: 'a', input: { to: 'ada', body, more: 1 } },
      {
        type: 'tool-approval-request',
        toolCallId: 'c1',
        approvalId: 'apr_c1',
        reason: 'Call a',
        approvalDescriptor: {
          tool: 'a',
          fields: [
            { key: '"to"', value: '"ada"', declared: true, path: ['to'] },
            {
              key: '"body"',
              value: '"xxx"',
              declared: true,
              path: ['body'],
              shortened: { length: 401, sha256: '0123' },
            },
            { key: '"more"', value: '1', declared: false, path: ['more'] },
          ],
        },
      },
      { type: 'finish', finishReason: 'tool-calls' },
    );
    page.transport.close();
    await page.find('approval');
    const fields = page.all('approval-field').map(({ dataset, textContent }) => [dataset['declared'], textContent]);
    expect(fields.map(([declared]) => declared)).toEqual(['true', 'true', 'false']);
    expect(fields[2]?.[1]).toContain('Not declared');
    expect(page.all('approval-facts')[0]?.textContent).not.toContain('x'.repeat(300));
    await page.click('approval-more');
    expect(page.all('approval-facts')[0]?.textContent).toContain(`${'x'.repeat(400)}\\u202e`);
  });

  it('is made when it is approved, and the answer goes on where it waited', async () => {
    page = await mount();
    await ask('c1');
    await page.click('approve');
    await untilSent(2);
    expect(page.transport.decided).toEqual([{ runId: 'run-1', approvalId: 'apr_c1', approved: true }]);
    const [question, answer] = page.transport.sent[1]?.messages ?? [];
    expect(page.transport.sent[1]?.messages).toHaveLength(2);
    expect(question?.role).toBe('user');
    expect(answer?.parts).toEqual([{
      type: 'tool-a',
      toolCallId: 'c1',
      input: { noteId: 'note-1' },
      state: 'approval-responded',
      approval: { id: 'apr_c1', approved: true },
    }]);
    page.transport.write(
      { type: 'start', messageId: answer?.id ?? '' },
      { type: 'tool-input-available', toolCallId: 'c1', toolName: 'a', input: { noteId: 'note-1' } },
    );
    await vi.waitFor(() => expect(states()).toEqual(['running']));
    page.transport.write(
      { type: 'tool-output-available', toolCallId: 'c1', output: { deleted: true } },
      { type: 'text-delta', id: 't', delta: 'It is gone.' },
      { type: 'data-run', data: { runId: 'run-2', state: 'completed' } },
      { type: 'finish', finishReason: 'stop' },
    );
    page.transport.close();
    await page.find('retry');
    expect(states()).toEqual(['result']);
    expect(page.all('message')).toHaveLength(2);
    expect(page.all('message')[1]?.textContent).toContain('It is gone.');
    expect(page.all('approval-answer')[0]?.textContent).toBe('You approved this call');
  });

  it('is not made when it is denied, with the reason or without', async () => {
    page = await mount();
    await ask('c1');
    await page.type('deny-reason', ' Keep it ');
    await page.click('deny');
    await untilSent(2);
    expect(page.transport.decided[0]).toMatchObject({ approved: false, reason: 'Keep it' });
    const failure = { toolCallId: 'c1', tool: 'a', code: 'forbidden', message: 'A person denied it: Keep it' };
    page.transport.write(
      { type: 'tool-input-available', toolCallId: 'c1', toolName: 'a', input: { noteId: 'note-1' } },
      { type: 'tool-output-error', toolCallId: 'c1', errorText: failure.message },
      { type: 'data-tool-error', data: failure },
      { type: 'finish', finishReason: 'stop' },
    );
    page.transport.close();
    await page.find('retry');
    expect(states()).toEqual(['denied']);
    expect(page.all('approval-answer')[0]?.textContent).toBe('You denied this call: Keep it');
  });

  it('goes on when the last of several is decided', async () => {
    page = await mount();
    await ask('c1', 'c2');
    await page.click('approve');
    await vi.waitFor(() => expect(page.all('approve')).toHaveLength(1));
    expect(page.transport.sent).toHaveLength(1);
    await page.click('deny');
    await untilSent(2);
    expect(page.transport.decided.map(({ approvalId, approved }) => [approvalId, approved])).toEqual([
      ['apr_c1', true],
      ['apr_c2', false],
    ]);
    expect(page.transport.sent[1]?.messages.at(-1)?.parts).toMatchObject([
      { state: 'approval-responded', approval: { approved: true } },
      { state: 'approval-responded', approval: { approved: false } },
    ]);
  });

  it('still waits after a reload', async () => {
    const storage = memoryStorage();
    page = await mount({ storage });
    await ask('c1');
    const chatId = page.playground.chats.current.value.id;
    await vi.waitFor(async () => {
      const [, kept] = await storage.list({ prefix: ['message', chatId], limit: 2 });
      expect(kept?.value).toMatchObject({ outcome: { type: 'waiting' } });
    });
    page.unmount();
    page = await mount({ storage, chatId });
    expect((await page.find('approval-facts')).textContent).toBe(facts);
    await page.click('approve');
    await untilSent(1);
    expect(page.transport.decided).toMatchObject([{ runId: 'run-1', approvalId: 'apr_c1' }]);
    expect(page.transport.sent[0]?.messages.at(-1)?.parts).toMatchObject([{ state: 'approval-responded' }]);
  });

  it('is not decided when another message is sent', async () => {
    page = await mount();
    await ask('c1');
    await send(page, 'Never mind');
    await untilSent(2);
    await vi.waitFor(() => expect(states()).toEqual(['undecided']));
    expect(page.all('approve')).toHaveLength(0);
    expect(page.all('awaiting')).toHaveLength(0);
    expect(page.all('approval-answer')[0]?.textContent).toContain('without deciding');
    expect(page.transport.sent[1]?.messages[1]?.parts).toMatchObject([{ state: 'output-error' }]);
  });
});

describe('a decision that fails', () => {
  it.each(
    [
      ['approval_expired', 'The approval expired'],
      ['not_found', 'no longer has this approval'],
    ] as const,
  )('with %s ends the question', async (code, text) => {
    page = await mount();
    await ask('c1');
    page.transport.refuseNext(new PinnaceError(code, 'No'));
    await page.click('approve');
    await vi.waitFor(() => expect(states()).toEqual(['undecided']));
    expect(page.all('approval-answer')[0]?.textContent).toContain(text);
    expect(page.transport.sent).toHaveLength(1);
    await page.find('retry');
  });

  it('with already_decided does nothing by itself: what was decided may be the opposite', async () => {
    page = await mount();
    await ask('c1');
    page.transport.refuseNext(new PinnaceError('already_decided', 'No', { status: 409 }));
    await page.click('deny');
    await vi.waitFor(() => expect(page.all('approval-answer')[0]?.textContent).toContain('already decided'));
    expect(page.transport.sent).toHaveLength(1);
    expect((await page.find('retry')).textContent).toBe('Continue');
    await page.click('retry');
    await untilSent(2);
    expect(page.transport.sent[1]?.messages.at(-1)?.parts).toMatchObject([
      { state: 'approval-requested', approval: { id: 'apr_c1' } },
    ]);
  });

  it('on the way can be made again', async () => {
    page = await mount();
    await ask('c1');
    page.transport.refuseNext(new PinnaceError('unavailable', 'Cannot reach the endpoint'));
    await page.click('approve');
    expect((await page.find('approval-problem')).textContent).toContain('Cannot reach the endpoint');
    await page.click('approve');
    await untilSent(2);
  });
});

describe('a continuation that fails', () => {
  it('can be tried again, and drops nothing', async () => {
    page = await mount();
    await ask('c1');
    page.transport.rejectNext(new PinnaceError('unavailable', 'No', { retryable: true }));
    await page.click('approve');
    await page.click('remedy-retry');
    await untilSent(3);
    expect(states()).toEqual(['waiting']);
    expect(page.transport.sent[2]?.messages.at(-1)?.parts).toMatchObject([{ state: 'approval-responded' }]);
  });
});

import { describe, expect, it } from 'vitest';
import { hurry } from '../../../fixtures/processes/hurry.ts';
import { mortal } from '../../../fixtures/processes/lost-instance.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { localPrincipal, type UIMessage, type UIMessageChunk } from '../../../../src/index.ts';
import { says, stallingStream } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, terminalChunks, testRuntime, textOf } from '../../../fixtures/runtime.ts';
import { isSummary, longChat, modelOf, promptText, smallWindow, summarizingModel } from './long-chat.ts';

const me = localPrincipal();
const request = runRequest({ chat: { id: 'chat-1', messages: longChat(20) } });
const hour = 3_600_000;

async function read(runtime: ReturnType<typeof testRuntime>, runId: string): Promise<UIMessageChunk[]> {
  return await readAll(await runtime.resume(runId, 0, { principal: me }));
}

hurry();

describe('a run whose process is killed', () => {
  it('while it summarizes ends as worker_lost; the next request is summarized anew', async () => {
    let time = 1_800_000_000_000;
    const storage = memoryStorage({ now: () => time });
    const worker = mortal(storage);
    const summarizing = Promise.withResolvers<void>();
    const hanging = modelOf((options) => {
      if (isSummary(options)) summarizing.resolve();
      return stallingStream(says('Half').slice(0, 2));
    });
    const shared = { agent: smallWindow, now: () => time };
    const { runId } = await testRuntime({ ...shared, model: hanging.model, storage: worker.storage }).start(
      request,
      me,
      {},
    );
    await summarizing.promise;
    worker.kill();
    time += hour;
    const { model, summaries } = summarizingModel();
    const other = testRuntime({ ...shared, model, storage, recovery: false });
    const lost = await read(other, runId);
    expect(terminalChunks(lost)).toHaveLength(1);
    expect(lastData(lost, 'data-run')).toMatchObject({
      state: 'failed',
      error: { details: { reason: 'worker_lost' } },
    });
    expect(lost.some(({ type }) => type === 'data-compaction')).toBe(false);
    const again = await readAll(await other.run(request, me));
    expect([textOf(again), summaries().length]).toEqual(['Hello', 1]);
  });

  it('after the summary keeps it in the log, and the next request uses it', async () => {
    let time = 1_800_000_000_000;
    const storage = memoryStorage({ now: () => time });
    const worker = mortal(storage);
    const hanging = modelOf((options) =>
      isSummary(options) ? says('They met.') : stallingStream(says('Hel').slice(0, 3))
    );
    const shared = { agent: smallWindow, now: () => time };
    const runtime = testRuntime({ ...shared, model: hanging.model, storage: worker.storage });
    const { runId } = await runtime.start(request, me, {});
    const cursor = await runtime.runs.cursor(me, runId, 0);
    for (let page = await cursor.next(); page; page = await cursor.next()) {
      if (page.some(({ text }) => text.includes('"text-delta"'))) break;
    }
    worker.kill();
    time += hour;
    const { model, answers, summaries } = summarizingModel();
    const other = testRuntime({ ...shared, model, storage, recovery: false });
    const lost = await read(other, runId);
    const part = lost.find(({ type }) => type === 'data-compaction') as UIMessage['parts'][number];
    expect(part).toMatchObject({ data: { summary: 'They met.' } });
    const answer: UIMessage = { id: 'a', role: 'assistant', parts: [part] };
    const messages = [...request.chat.messages, answer, ...longChat(0)];
    await readAll(await other.run(runRequest({ chat: { id: 'chat-1', messages } }), me));
    expect(summaries()).toEqual([]);
    expect(promptText(answers()[0])).toContain('They met.');
  });
});

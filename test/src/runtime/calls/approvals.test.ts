import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  createPrincipal,
  type CreateRuntimeOptions,
  defineTool,
  type HostedRuntime,
  localPrincipal,
  type Tool,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import {
  lastData,
  readAll,
  runRequest,
  terminalChunks,
  testRuntime,
  textOf,
  userMessage,
} from '../../../fixtures/runtime.ts';

const me = localPrincipal();

/** A tool that counts what it really did, and needs an approval for it. */
function deleteTool(overrides: Partial<Parameters<typeof defineTool>[0]> = {}): { tool: Tool; deleted: string[] } {
  const deleted: string[] = [];
  const tool = defineTool({
    id: 'delete_note',
    description: 'Deletes a note',
    approval: 'mutating',
    input: v.strictObject({ noteId: v.string() }),
    execute: ({ noteId }: { noteId: string }) => (deleted.push(noteId), { deleted: noteId }),
    ...overrides as object,
  });
  return { tool, deleted };
}

interface Asked {
  readonly runId: string;
  readonly approvalId: string;
  readonly chunks: readonly UIMessageChunk[];
}

const asking = callsTools({ tool: 'delete_note', input: { noteId: 'n1' } });

/** A runtime whose model wants to delete a note, then comments on what came of it. */
function deleting(
  tool: Tool,
  storage = memoryStorage(),
  options: Pick<Partial<CreateRuntimeOptions>, 'now' | 'limits'> & { agent?: Partial<AgentInput> } = {},
) {
  const model = scriptedModel(asking, says('Done with it'));
  return { model, runtime: testRuntime({ ...model, tools: [tool], storage, ...options }) };
}

async function ask(runtime: HostedRuntime): Promise<Asked> {
  const chunks = await readAll(await runtime.run(runRequest(), me));
  const request = chunks.find((chunk) => chunk.type === 'tool-approval-request');
  if (request?.type !== 'tool-approval-request') throw new Error('No approval was asked for');
  return { chunks, approvalId: request.approvalId, runId: String(lastData(chunks, 'data-run')['runId']) };
}

/** What a client sends to go on: the message with the waiting call, as the AI SDK keeps it. */
function continuation(
  { approvalId }: Asked,
  { input = { noteId: 'n1' }, chatId = 'chat-1', claim = true } = {},
): ReturnType<typeof runRequest> {
  const waiting = {
    id: 'm2',
    role: 'assistant',
    parts: [{
      type: 'tool-delete_note',
      toolCallId: 'call-0',
      input,
      ...(claim
        ? { state: 'approval-responded', approval: { id: approvalId, approved: true } }
        : { state: 'approval-requested', approval: { id: approvalId } }),
    }],
  } as UIMessage;
  return runRequest({ chat: { id: chatId, messages: [userMessage('Delete n1'), waiting] } });
}

async function goOn(runtime: HostedRuntime, request: ReturnType<typeof runRequest>): Promise<UIMessageChunk[]> {
  return await readAll(await runtime.run(request, me));
}

describe('a call that needs an approval', () => {
  it('stops the run before it, and asks with the facts of the call', async () => {
    const { tool, deleted } = deleteTool();
    const { runtime } = deleting(tool);
    const { chunks } = await ask(runtime);
    expect(deleted).toEqual([]);
    expect(chunks.find(({ type }) => type === 'tool-approval-request')).toMatchObject({
      toolCallId: 'call-0',
      approvalId: expect.stringMatching(/^apr_[0-9a-f]{32}$/),
      reason: 'Call delete_note\n"noteId": "n1"',
      approvalDescriptor: {
        tool: 'delete_note',
        fields: [{ key: '"noteId"', value: '"n1"', declared: true, path: ['noteId'] }],
      },
    });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'awaiting_approval' });
    expect(terminalChunks(chunks)).toEqual([{ type: 'finish', finishReason: 'tool-calls' }]);
  });

  it('is made once after its approval, in the message that waited, and the model receives the result', async () => {
    const { tool, deleted } = deleteTool();
    const { runtime, model } = deleting(tool);
    const asked = await ask(runtime);
    await runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
    const chunks = await goOn(runtime, continuation(asked));
    expect(deleted).toEqual(['n1']);
    expect(chunks[0]).toEqual({ type: 'start', messageId: 'm2' });
    expect(chunks).toContainEqual({ type: 'tool-output-available', toolCallId: 'call-0', output: { deleted: 'n1' } });
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"deleted":"n1"');
    expect(textOf(chunks)).toBe('Done with it');
  });

  it('is not made when it was denied, and the model learns that and why', async () => {
    const { tool, deleted } = deleteTool();
    const { runtime, model } = deleting(tool);
    const asked = await ask(runtime);
    await runtime.decide(asked.runId, asked.approvalId, { approved: false, reason: 'Keep it' }, me);
    const chunks = await goOn(runtime, continuation(asked));
    expect(deleted).toEqual([]);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'forbidden' });
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('Keep it');
  });

  it('is refused with a policy error although the model insists, and when the hook would ask', async () => {
    const { tool, deleted } = deleteTool({ approval: 'never' });
    const model = scriptedModel(asking, asking, says('ok'));
    const runtime = testRuntime({
      ...model,
      tools: [tool],
      authorize: () => ({ decision: 'ask', reason: 'Deleting is asked about' }),
    });
    const { chunks } = await ask(runtime);
    expect(JSON.stringify(chunks)).toContain('Deleting is asked about');
    expect(deleted).toEqual([]);
  });

  it('requests no approval when its input is invalid', async () => {
    const { tool, deleted } = deleteTool();
    const runtime = testRuntime({
      ...scriptedModel(callsTools({ tool: 'delete_note', input: { wrong: 1 } }), says('ok')),
      tools: [tool],
    });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(chunks.some(({ type }) => type === 'tool-approval-request')).toBe(false);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'invalid_argument' });
    expect(deleted).toEqual([]);
  });

  it('leaves its siblings alone: they are made, and only it waits', async () => {
    const { tool, deleted } = deleteTool();
    const read = defineTool({ id: 'read', description: 'Reads', input: v.object({}), execute: () => 'text' });
    const script = callsTools({ tool: 'delete_note', input: { noteId: 'n1' } }, { tool: 'read', input: {} });
    const runtime = testRuntime({ ...scriptedModel(script, says('x')), tools: [tool, read] });
    const { chunks } = await ask(runtime);
    expect(chunks).toContainEqual({ type: 'tool-output-available', toolCallId: 'call-1', output: 'text' });
    expect(deleted).toEqual([]);
  });

  it('is decided with an error of ours alone, when the storage throws one of its own', async () => {
    const { tool } = deleteTool();
    const inner = memoryStorage();
    let broken = false;
    const storage = {
      ...inner,
      get: (key: Parameters<typeof inner.get>[0]) => broken ? Promise.reject({ code: 'sk-SECRET' }) : inner.get(key),
    };
    const { runtime } = deleting(tool, storage, { limits: { storageGraceMs: 50 } });
    const { runId, approvalId } = await ask(runtime);
    broken = true;
    const decided = runtime.decide(runId, approvalId, { approved: true }, me);
    await expect(decided).rejects.toMatchObject({
      name: 'PinnaceError',
      code: 'internal',
      message: expect.not.stringContaining('SECRET'),
    });
  });
});

describe('a tool that describes its calls', () => {
  /** A note that can change between the question and the call. */
  function describedTool(preview: (noteId: string) => unknown) {
    const asked: string[] = [];
    const { tool, deleted } = deleteTool({
      title: 'Delete a note',
      describe: ({ noteId }: { noteId: string }) => (asked.push(noteId), preview(noteId)) as never,
    });
    return { tool, deleted, asked };
  }
  const descriptorOf = ({ chunks }: Asked): Record<string, unknown> => {
    const request = chunks.find(({ type }) => type === 'tool-approval-request');
    return (request && 'approvalDescriptor' in request ? request.approvalDescriptor : {}) as Record<string, unknown>;
  };

  it('shows the thing under a fixed title, with what changes', async () => {
    const { tool } = describedTool(() => ({
      quote: 'Buy rope and paint',
      changes: [{ label: 'Notebook', before: 'Ship', after: null }, { label: 'Count', before: 3, after: 2 }],
    }));
    const asked = await ask(deleting(tool).runtime);
    expect(descriptorOf(asked)).toMatchObject({
      title: 'Delete a note',
      tool: 'Delete a note (delete_note)',
      quote: 'Buy rope and paint',
      changes: [{ label: 'Notebook', before: 'Ship', after: '' }, { label: 'Count', before: '3', after: '2' }],
    });
    expect(asked.chunks.find(({ type }) => type === 'tool-approval-request')).toMatchObject({
      reason: 'Call Delete a note (delete_note)\nPreview: “Buy rope and paint”\n' +
        'Change: "Notebook" from "Ship" to ""\nChange: "Count" from "3" to "2"\n"noteId": "n1"',
    });
  });

  it.each([
    ['that is long', { quote: 'a'.repeat(1_000) }, { quote: `${'a'.repeat(199)}…` }],
    ['with hidden characters', { quote: 'a\u202eb\nc\u0000' }, { quote: 'a\\u202eb c\\u0000' }],
    [
      'with many changes',
      { changes: Array.from({ length: 25 }, (_, at) => ({ label: `Row ${at}`, after: at })) },
      { moreChanges: 5 },
    ],
    ['of a megabyte', { quote: 'a'.repeat(1_000_000) }, { noPreview: true }],
    ['that is no preview', { quote: 7 }, { noPreview: true }],
    ['that is nothing', undefined, { noPreview: true }],
  ])('shows a preview %s so that it forges nothing', async (_, preview, shown) => {
    const { tool } = describedTool(() => preview);
    const descriptor = descriptorOf(await ask(deleting(tool).runtime));
    expect(descriptor).toMatchObject({ title: 'Delete a note', ...shown });
    expect(JSON.stringify(descriptor).length).toBeLessThan(3_000);
  });

  it('says that there is no preview where it fails or never comes', async () => {
    for (const preview of [() => Promise.reject(new Error('gone')), () => new Promise(() => undefined)]) {
      const descriptor = descriptorOf(await ask(deleting(describedTool(preview).tool).runtime));
      expect(descriptor).toMatchObject({ noPreview: true, fields: [{ value: '"n1"' }] });
    }
  });

  it('is called as it was approved while it shows the same', async () => {
    const { tool, deleted, asked: described } = describedTool(() => ({ quote: 'Buy rope' }));
    const { runtime } = deleting(tool);
    const asked = await ask(runtime);
    await runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
    await goOn(runtime, continuation(asked));
    expect(deleted).toEqual(['n1']);
    expect(described).toEqual(['n1', 'n1']);
  });

  it('asks anew with what it shows now, where that has changed since', async () => {
    const texts = ['Buy rope', 'Buy gold', 'Buy gold', 'Buy gold'];
    const { tool, deleted } = describedTool(() => ({ quote: texts.shift() }));
    const { runtime } = deleting(tool);
    const asked = await ask(runtime);
    await runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
    const chunks = await goOn(runtime, continuation(asked));
    expect(deleted).toEqual([]);
    const again = chunks.find((chunk) => chunk.type === 'tool-approval-request');
    if (again?.type !== 'tool-approval-request') throw new Error('No approval was asked for');
    const runId = String(lastData(chunks, 'data-run')['runId']);
    expect(descriptorOf({ chunks, runId, approvalId: again.approvalId })).toMatchObject({ quote: 'Buy gold' });
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'awaiting_approval' });
    await runtime.decide(runId, again.approvalId, { approved: true }, me);
    await goOn(runtime, continuation({ ...asked, approvalId: again.approvalId }));
    expect(deleted).toEqual(['n1']);
  });

  it('is not asked anew where it was denied', async () => {
    const texts = ['Buy rope', 'Buy gold'];
    const { tool, deleted } = describedTool(() => ({ quote: texts.shift() }));
    const { runtime } = deleting(tool);
    const asked = await ask(runtime);
    await runtime.decide(asked.runId, asked.approvalId, { approved: false }, me);
    const chunks = await goOn(runtime, continuation(asked));
    expect(chunks.some(({ type }) => type === 'tool-approval-request')).toBe(false);
    expect(deleted).toEqual([]);
  });
});

describe('an approval executes nothing', () => {
  it.each<
    [string, string, (setup: { asked: Asked; runtime: HostedRuntime }) => Promise<ReturnType<typeof runRequest>>]
  >([
    ['when no one decided, whatever the client claims', 'approval_undecided', async ({ asked }) => continuation(asked)],
    [
      'when its id is made up',
      'approval_not_found',
      async ({ asked }) => continuation({ ...asked, approvalId: 'apr_forged' }),
    ],
    ['moved to another chat', 'approval_moved', async ({ asked, runtime }) => {
      await runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
      return continuation(asked, { chatId: 'chat-2' });
    }],
    ['for another input', 'approval_altered', async ({ asked, runtime }) => {
      await runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
      return continuation(asked, { input: { noteId: 'n2' } });
    }],
  ])('%s, and the reason is %s', async (_name, reason, prepare) => {
    const { tool, deleted } = deleteTool();
    const { runtime } = deleting(tool);
    const asked = await ask(runtime);
    const chunks = await goOn(runtime, await prepare({ asked, runtime }));
    expect(deleted).toEqual([]);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'approval_required', details: { reason } });
    expect(terminalChunks(chunks)).toHaveLength(1);
  });

  it.each<
    [string, string, (storage: ReturnType<typeof memoryStorage>) => { runtime: HostedRuntime; deleted: string[] }]
  >([
    ['under a changed definition of the tool', 'approval_altered', (storage) => {
      const { tool, deleted } = deleteTool({ description: 'Deletes a note, and all others' });
      return { deleted, runtime: deleting(tool, storage).runtime };
    }],
    ['under a changed revision of the agent', 'approval_altered', (storage) => {
      const { tool, deleted } = deleteTool();
      return { deleted, runtime: deleting(tool, storage, { agent: { revision: 2 } }).runtime };
    }],
    ['after it has expired', 'approval_expired', (storage) => {
      const { tool, deleted } = deleteTool();
      return { deleted, runtime: deleting(tool, storage, { now: () => Date.now() + 86_400_001 }).runtime };
    }],
  ])('%s, and the reason is %s', async (_name, reason, change) => {
    const storage = memoryStorage();
    const { runtime } = deleting(deleteTool().tool, storage);
    const asked = await ask(runtime);
    await runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
    const changed = change(storage);
    const chunks = await goOn(changed.runtime, continuation(asked));
    expect(changed.deleted).toEqual([]);
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'approval_required', details: { reason } });
  });

  it('the second and third time', async () => {
    const { tool, deleted } = deleteTool();
    const { runtime } = deleting(tool);
    const asked = await ask(runtime);
    await runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
    let chunks: UIMessageChunk[] = [];
    for (let i = 0; i < 3; i++) chunks = await goOn(runtime, continuation(asked, { claim: i > 0 }));
    expect(deleted).toEqual(['n1']);
    const details = { reason: 'approval_spent' };
    expect(lastData(chunks, 'data-tool-error')).toMatchObject({ code: 'approval_required', details });
    const late = runtime.decide(asked.runId, asked.approvalId, { approved: true }, me);
    await expect(late).rejects.toMatchObject({ code: 'already_decided', details });
  });

  it('twice when two instances race to spend it', async () => {
    const storage = memoryStorage();
    const { tool, deleted } = deleteTool();
    const [a, b] = [deleting(tool, storage).runtime, deleting(tool, storage).runtime];
    const asked = await ask(a);
    await b.decide(asked.runId, asked.approvalId, { approved: true }, me);
    await Promise.all([a, b, a, b].map((runtime) => goOn(runtime, continuation(asked))));
    expect(deleted).toEqual(['n1']);
  });
});

describe('decide', () => {
  it('is for a principal of the same tenant with the scope, and once', async () => {
    const { runtime } = deleting(deleteTool().tool);
    const { runId, approvalId } = await ask(runtime);
    const decide = (principal = me, id = approvalId, run = runId) =>
      runtime.decide(run, id, { approved: true }, principal);
    await expect(decide(createPrincipal({ ...me, scopes: ['run:create'] }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(decide(createPrincipal({ ...me, tenant: 'other' }))).rejects.toMatchObject({ code: 'not_found' });
    await expect(decide(createPrincipal({ ...me, agents: ['another'] }))).rejects.toMatchObject({ code: 'not_found' });
    await expect(decide(me, 'apr_unknown')).rejects.toMatchObject({ code: 'not_found' });
    await expect(decide(me, approvalId, 'run_other')).rejects.toMatchObject({ code: 'not_found' });
    await decide();
    await expect(decide()).rejects.toMatchObject({ code: 'already_decided', status: 409 });
  });

  it('is too late when the approval has expired', async () => {
    let time = 1_800_000_000_000;
    const { runtime } = deleting(deleteTool().tool, memoryStorage(), { now: () => time });
    const { runId, approvalId } = await ask(runtime);
    time += 86_400_000;
    const late = runtime.decide(runId, approvalId, { approved: true }, me);
    await expect(late).rejects.toMatchObject({ code: 'approval_expired', status: 410 });
  });
});

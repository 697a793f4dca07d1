/** An endpoint as a runtime, so that the page speaks with it as with its own worker. */

import type { Client } from '../../../adapters/transport/client.ts';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import type { McpAnswers } from '../../../src/contracts/mcp/answers.ts';
import type {
  McpAppCallRequest,
  McpAppRequest,
  McpCompletionRequest,
  McpPromptRequest,
  McpResourceRequest,
} from '../../../src/contracts/mcp/content.ts';
import type { McpSignInCallback, McpSignInRequest, RuntimeSignIns } from '../../../src/contracts/mcp/sign-in.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { HostedRuntime, RunCall, Runtime } from '../../../src/runtime/runtime.ts';
import type { Schedules } from '../../../src/runtime/schedule.ts';
import type { StoredFiles } from '../../../src/runtime/message-files.ts';

/** Returns the runtime. Aborting a run's signal cancels the run at the endpoint; its stream then says so. */
export function remoteRuntime(
  client: Client,
): Runtime & Pick<HostedRuntime, 'prompts' | 'resources' | 'apps' | 'mcpSignIns' | 'inbox' | 'undo'> & {
  readonly schedules: Omit<Schedules, 'has' | 'erase' | 'receive'>;
  readonly chats: Omit<HostedRuntime['chats'], 'export'>;
  readonly blobs: Pick<StoredFiles, 'get'>;
} {
  return {
    ...contentOf(client),
    blobs: {
      async get(id, _principal, options) {
        const blob = await client.blobs.read(id, options);
        return { bytes: new Uint8Array(await blob.arrayBuffer()), mediaType: blob.type };
      },
    },
    mcpSignIns: signInsOf(client),
    inbox: {
      list: (_principal, query) => client.inbox.list(query),
      get: (id) => client.inbox.get(id),
      decide: (decisions) => client.inbox.decide(decisions),
      watch: (_principal, options) => client.inbox.watch(options),
    },
    schedules: schedulesOf(client),
    chats: {
      list: (_principal, page) => client.chats.list(page),
      get: (id, _principal, page) => client.chats.get(id, page),
      rename: (id, change) => client.chats.rename(id, change),
      import: (chat) => client.chats.import(chat),
      delete: (id) => client.chats.delete(id),
    },
    undo: {
      preview: (runId, terms) => client.undo.preview(runId, terms),
      run: (runId, terms) => client.undo.run(runId, terms),
    },
    run: (request, _principal, call) => startedBy(client, call, (given) => client.run(request, given)),
    fork: (runId, options, _principal, call) => startedBy(client, call, (given) => client.fork(runId, options, given)),
    async resume(runId, after, { signal }) {
      const cancel = (): Promise<void> => client.cancel(runId).catch(() => undefined);
      if (signal?.aborted) void cancel();
      signal?.addEventListener('abort', () => void cancel(), { once: true });
      // Nothing is left to read where the run has ended and all of it was read.
      return await client.resume(runId, { lastEventId: `${runId}:${after}` }) ?? new ReadableStream({
        start: (controller) => controller.close(),
      });
    },
    decide: async (runId, approvalId, { approved, reason }) =>
      await client.approve(runId, approvalId, { approved, ...(reason !== undefined && { reason }) }),
    send: (runId, message) => client.send(runId, message),
    reply: (runId, reply) => client.reply(runId, reply),
    manifest: () => Promise.reject(notOffered()),
    invalidate: () => Promise.reject(notOffered()),
    close: () => Promise.resolve(),
  };
}

/** What MCP servers offer. The endpoint checks what is requested. */
function contentOf({ prompts, resources, apps }: Client): Pick<HostedRuntime, 'prompts' | 'resources' | 'apps'> {
  return {
    prompts: {
      list: (agentId) => prompts.list(agentId),
      get: (agentId, request) => prompts.get(agentId, request as McpPromptRequest),
      complete: (agentId, request) => prompts.complete(agentId, request as McpCompletionRequest),
    },
    resources: {
      list: (agentId, _principal, query) => resources.list(agentId, query),
      read: (agentId, request) => resources.read(agentId, request as McpResourceRequest),
    },
    apps: {
      read: (agentId, request) => apps.read(agentId, request as McpAppRequest),
      call: (agentId, request) => apps.call(agentId, request as McpAppCallRequest),
    },
  };
}

function schedulesOf({ schedules }: Client): Omit<Schedules, 'has' | 'erase' | 'receive'> {
  return {
    create: (input) => schedules.create(input),
    list: (_principal, page) => schedules.list(page),
    get: (id) => schedules.get(id),
    update: (id, { revision = 0, ...change }) => schedules.update(id, { ...change, revision }),
    delete: (id) => schedules.delete(id),
    pause: (id) => schedules.pause(id),
    resume: (id) => schedules.resume(id),
    run: (id) => schedules.run(id),
    fires: (id, _principal, page) => schedules.fires(id, page),
  };
}

/** The endpoint checks what is sent. */
function signInsOf({ mcpSignIns }: Client): RuntimeSignIns {
  return {
    start: (serverId, request) => mcpSignIns.start(serverId, request as McpSignInRequest),
    finish: (callback) => mcpSignIns.finish(callback as McpSignInCallback),
    grant: (serverId) => mcpSignIns.grant(serverId),
    revoke: (serverId) => mcpSignIns.revoke(serverId),
    answer: (runId, id, given) => mcpSignIns.answer(runId, id, (given as McpAnswers).answers),
  };
}

/** Starts a run. An abort before it has started leaves it, and later cancels it. */
async function startedBy(
  client: Client,
  { signal, idempotencyKey = crypto.randomUUID() }: RunCall = {},
  start: (given: { signal: AbortSignal; idempotencyKey: string }) => Promise<ReadableStream<UIMessageChunk>>,
): Promise<ReadableStream<UIMessageChunk>> {
  const left = new AbortController();
  const leave = (): void => left.abort(new PinnaceError('cancelled', 'The run was stopped before it started'));
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  const stream = await start({ idempotencyKey, signal: left.signal });
  signal?.removeEventListener('abort', leave);
  return signal ? cancelledBy(signal, { stream, cancel: (runId) => client.cancel(runId).catch(leave) }) : stream;
}

/** The same stream. An abort cancels the run by its id from the first chunks. */
function cancelledBy(
  signal: AbortSignal,
  { stream, cancel }: {
    readonly stream: ReadableStream<UIMessageChunk>;
    readonly cancel: (runId: string) => Promise<void>;
  },
): ReadableStream<UIMessageChunk> {
  let runId: string | undefined;
  const stop = (): void => {
    if (signal.aborted && runId !== undefined) void cancel(runId);
  };
  signal.addEventListener('abort', stop, { once: true });
  return stream.pipeThrough(
    new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        if (runId !== undefined || chunk.type !== 'data-run') return;
        runId = chunk.id;
        stop();
      },
    }),
  );
}

function notOffered(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot do this at an endpoint: the playground only runs agents there');
}

/**
 * A short answer as most apps make it: two model calls and one tool, in a chat that is stored in PostgreSQL, eight at once; beside the
 * bare AI SDK, which reads the chat from the same database before and writes it after. The models answer at once, so that what is
 * measured is the rest.
 */

import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from 'ai';
import process from 'node:process';
import postgres from 'postgres';
import * as v from 'valibot';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import type { ConnectPostgres } from '../../../adapters/storage/postgres-client.ts';
import { encodeSse } from '../../../adapters/transport/http/sse.ts';
import { createRuntime, defineTool, localPrincipal } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { postgresPrograms, startPostgres } from '../../tools/servers/postgres-server.ts';
import { median, quantile, ratioOf, report, type Row, skip } from '../measure.ts';

const atOnce = 8;
const runs = 200;
const rounds = 5;
const bar = 1.2;

const execute = ({ q }: { readonly q: string }) => ({ q, hits: 3 });
const script = () =>
  scriptedModel(callsTools({ tool: 'lookup', input: { q: 'rope' }, id: 'c' }), says('There ', 'are ', 'three.')).model;

function message(text: string): UIMessage {
  return { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
}

/** Answers in a chat, with an SSE stream of the answer. */
type Answer = (chatId: string, message: UIMessage) => Promise<ReadableStream<Uint8Array>>;

async function sdk(socket: string): Promise<Answer> {
  const sql = postgres({ path: socket, user: 'pinnace', database: 'postgres', max: 4, onnotice: () => undefined });
  await sql`create table chats (id text primary key, messages jsonb not null)`;
  const lookup = tool({
    description: 'Looks something up',
    inputSchema: jsonSchema<{ q: string }>({ type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }),
    execute,
  });
  return async (chatId, sent) => {
    const [row] = await sql`select messages from chats where id = ${chatId}`;
    const messages = [...(row?.['messages'] as UIMessage[] | undefined ?? []), sent]; // only this function writes it
    const tools = { lookup };
    const { stream } = streamText({
      model: script(),
      tools,
      messages: await convertToModelMessages(messages),
      stopWhen: isStepCount(5),
    });
    return createUIMessageStreamResponse({
      stream: toUIMessageStream({
        stream,
        originalMessages: messages,
        async onFinish({ messages: all }) {
          const json = sql.json(JSON.parse(JSON.stringify(all)));
          await sql`insert into chats values (${chatId}, ${json}) on conflict (id) do update set messages = excluded.messages`;
        },
      }),
    }).body!;
  };
}

function pinnace(connect: ConnectPostgres): Answer {
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p', entryTools: ['lookup'] }],
      providers: [{ id: 'p', kind: 'custom' }],
    }),
    models: { model: script },
    storage: postgresStorage({ connect }),
    tools: [
      defineTool({ id: 'lookup', description: 'Looks something up', input: v.object({ q: v.string() }), execute }),
    ],
  });
  const principal = localPrincipal();
  return async (chatId, sent) => {
    const chat = { id: chatId, store: true, messages: [sent] };
    const { runId } = await runtime.start({ agentId: 'a', chat }, principal, {});
    const cursor = await runtime.runs.cursor(principal, runId, 0);
    return encodeSse(cursor, { runId, keepAliveMs: 15_000, metrics: runtime.metrics });
  };
}

/** Makes the runs, so many at once. Resolves to how long each took. */
async function wave(answer: Answer): Promise<readonly number[]> {
  const times: number[] = [];
  let left = runs;
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const startedAt = performance.now();
      const reader = (await answer(crypto.randomUUID(), message('How many ropes?'))).getReader();
      while (!(await reader.read()).done);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return times;
}

if (postgresPrograms === undefined) skip('PostgreSQL (apt-get install postgresql)');
else {
  const server = await startPostgres();
  try {
    const answers = { sdk: await sdk(server.socket), pinnace: pinnace(server.connect) };
    const p50s = { sdk: [] as number[], pinnace: [] as number[] };
    const p95s = { sdk: [] as number[], pinnace: [] as number[] };
    for (let round = 0; round <= rounds; round++) {
      for (const name of ['sdk', 'pinnace'] as const) {
        const times = await wave(answers[name]);
        if (round === 0) continue; // warms up
        p50s[name].push(median(times));
        p95s[name].push(quantile(times, 0.95));
      }
    }
    const shown = (name: 'sdk' | 'pinnace'): string =>
      `p50 ${median(p50s[name]).toFixed(1)} ms, p95 ${median(p95s[name]).toFixed(1)} ms`;
    const ratio = ratioOf(p50s.pinnace, p50s.sdk);
    const rows: Row[] = [
      { figure: 'Bare AI SDK, its chat stored', value: shown('sdk') },
      {
        figure: 'Pinnace, run log and chat',
        value: shown('pinnace'),
        ratio: ratio.toFixed(2),
        bar: `<= ${bar}`,
        met: ratio <= bar,
      },
    ];
    report('Short runs over PostgreSQL, two model calls and a tool, 8 at once', rows);
  } finally {
    await server.stop();
  }
}
process.exit(0);

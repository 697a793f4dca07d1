/** Connects to MCP servers through either library: times, lost sessions and errors are the same for both. */

import type { Egress } from '../../src/contracts/egress.ts';
import type { McpAuthorization, McpCall, McpConnection, McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
import type { McpServer } from '../../src/base/schema.ts';
import type { Secret } from '../../src/base/secret.ts';
import { readCallResult } from './call-result.ts';
import type { Challenges, ReadChallenge } from './authorized-send.ts';
import { connectionClosed, signInUnsupported } from './failures.ts';
import { createMcpFetch } from './mcp-fetch.ts';
import { createNotices, type Listeners } from './notices.ts';
import { createReader } from './reader.ts';
import type { LogLevel, OpenSession } from './session.ts';
import { createSessions, type LiveSession } from './sessions.ts';
import { toUrlQuestions } from './url-questions.ts';
import { inOurWords, within } from './within.ts';

/** The options of a connector. */
export interface McpConnectorOptions {
  /** The guarded egress; every request goes through it. */
  readonly egress: Egress;
  /** The longest answer and the longest list, in bytes; 4 MiB when absent. */
  readonly maxBytes?: number;
  /** For connecting; 15 s when absent. */
  readonly connectTimeoutMs?: number;
  /** For the list of all tools; 30 s when absent. */
  readonly listTimeoutMs?: number;
  /** The least level of log messages that servers are asked to send. Absent: servers of 2026-07-28 send none, older ones as they like. */
  readonly logLevel?: LogLevel;
}

/** Creates the connector over a library that opens sessions. */
export function connectorOver(
  open: OpenSession,
  options: McpConnectorOptions,
  loadChallenges?: () => Promise<ReadChallenge>,
): McpConnector {
  return {
    async connect(server, { secret, authorization, questions = false, signal, ...listeners }) {
      const life = new AbortController();
      const challenges = await challengesFor(authorization, loadChallenges);
      const { onToolsChanged = () => {}, onContentChanged, onLog } = listeners;
      const heard = { onToolsChanged, onContentChanged, onLog, onGap: gapOf(listeners) };
      const context = { ...defaults, ...options, ...heard, open, server, secret, challenges, questions, life };
      const first = await openSession(context, signal);
      return toConnection(first, context);
    },
  };
}

/** All lists may have changed; `undefined` where the caller does not observe changes. */
function gapOf(
  { onToolsChanged, onContentChanged }: Partial<Pick<Listeners, 'onToolsChanged' | 'onContentChanged'>>,
): (() => void) | undefined {
  return onToolsChanged && (() => {
    onToolsChanged();
    for (const kind of ['prompts', 'resources'] as const) onContentChanged?.(kind);
  });
}

async function challengesFor(
  authorization: McpAuthorization | undefined,
  load: (() => Promise<ReadChallenge>) | undefined,
): Promise<Challenges | undefined> {
  if (authorization === undefined) return undefined;
  if (load === undefined) throw signInUnsupported();
  return { authorization, read: await load() };
}

const defaults = { maxBytes: 4_194_304, connectTimeoutMs: 15_000, listTimeoutMs: 30_000 };

interface Context extends Required<Omit<McpConnectorOptions, 'logLevel'>>, Listeners {
  readonly logLevel?: LogLevel;
  readonly open: OpenSession;
  readonly server: McpServer;
  readonly secret: Secret | undefined;
  readonly challenges: Challenges | undefined;
  readonly questions: boolean;
  /** Called when changes of the lists may have been missed; absent where the caller does not observe them. */
  readonly onGap: (() => void) | undefined;
  /** Of the connection. */
  readonly life: AbortController;
}

/** The longest time of a response. Every call has its own, shorter time limit. */
const maxAnswerMs = 900_000;

async function openSession(context: Context, ...signals: readonly AbortSignal[]): Promise<LiveSession> {
  const { open, egress, server, secret, challenges, questions, onGap, maxBytes, life, logLevel } = context;
  const { connectTimeoutMs: timeoutMs } = context;
  const offered = { questions, apps: server.apps === true, onGap, logLevel };
  const url = new URL(server.url);
  url.hash = '';
  const guarded = createMcpFetch({
    egress,
    url,
    secret,
    challenges,
    questions,
    onGap,
    onNotice: createNotices(context),
    maxBytes,
    maxMs: maxAnswerMs,
  });
  const { fetch, faultBehind } = guarded;
  const session = await within(
    { signals: [...signals, life.signal], timeoutMs },
    (until) => inOurWords({ method: 'initialize', faultBehind }, () => open({ ...offered, url, fetch, signal: until })),
  );
  return { ...guarded, session };
}

function toConnection(first: LiveSession, context: Context): McpConnection {
  const { life } = context;
  const { protocolVersion, serverInfo, instructions } = first.session;
  const sessions = createSessions(first, () => openSession(context));
  const callOnce = async (live: LiveSession, call: McpCall, signal: AbortSignal) => {
    const { session, faultBehind, resultBehind } = live;
    const frame = await inOurWords(
      { method: 'tools/call', faultBehind },
      () => session.call(call, signal).catch((error: unknown) => toUrlQuestions(error, context.questions)),
    );
    return readCallResult(resultBehind(frame), context);
  };
  return {
    protocolVersion,
    serverInfo,
    instructions,
    ...createReader(sessions, context),
    callTool: (call) =>
      within(
        { signals: [call.signal, life.signal], timeoutMs: call.timeoutMs },
        (until) => sessions.use((live) => callOnce(live, call, until), { again: mayRepeat(call) }),
      ),
    async close() {
      life.abort(connectionClosed());
      await sessions.close();
    },
  };
}

/** By the server's hints, which a person has approved: a tool with wrong hints may be called twice. */
function mayRepeat({ definition }: McpCall): boolean {
  const { annotations } = definition as { readonly annotations?: Readonly<Record<string, unknown>> };
  return annotations?.['idempotentHint'] === true || annotations?.['readOnlyHint'] === true;
}

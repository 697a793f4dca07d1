/** A pinned MCP tool as a tool that can be called: over the run's one connection, and only while its server keeps to the pin. */

import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import type { McpInputResponses } from '../contracts/mcp/answers.ts';
import type { McpCall, McpCallResult, McpConnection } from '../contracts/mcp/mcp-connector.ts';
import type { McpServer } from '../base/schema.ts';
import { type Span, within } from '../events/span.ts';
import { toolError } from '../tools/call-ends.ts';
import { checkBy, compileJsonSchema } from '../tools/json-schema/json-schema.ts';
import { createRunScope } from '../tools/run-scope.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { toTraceparent } from '../events/traceparent.ts';
import type { AppWatch } from './apps/app-watch.ts';
import type { DriftWatch } from './drift-watch.ts';
import type { PinnedDefinition } from './pinned-tools.ts';
import { shapeResult } from './result.ts';
import type { McpPeople } from './people.ts';
import type { AskingTool } from './questions/questions.ts';
import type { McpSession, ServerAccess } from './session.ts';
import { noSignIn } from './sign-in/sign-in-failures.ts';

/** What MCP tools work with. */
export interface McpToolOptions {
  readonly drift: DriftWatch;
  readonly apps: Pick<AppWatch, 'appOf'>;
  /** Opens the connections of a run. */
  readonly openSession: () => McpSession;
  /** Signs people in and asks them questions. Absent where the composition allows neither. */
  readonly people: (() => Promise<McpPeople>) | undefined;
  /** The longest time of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest text of a result, in UTF-16 code units. */
  readonly maxLength: number;
}

/**
 * Returns the tool.
 *
 * @throws PinnaceError `invalid_argument` when a pinned schema is none.
 */
export function createMcpTool(server: McpServer, pinned: PinnedDefinition, options: McpToolOptions): Tool {
  const { definition } = pinned;
  const shape = {
    source: server.alias,
    maxLength: options.maxLength,
    media: server.media,
  };
  const outputCheck = definition.outputSchema && compileJsonSchema(definition.outputSchema);
  const { origin, pathname } = new URL(server.url);
  return {
    definition,
    secretOrigin: origin,
    describe: () => `MCP server ${server.alias} at ${origin}${pathname}`,
    isAvailable: () => !options.drift.isDrifted(server, pinned.pinned.definition.name),
    app() {
      const app = options.apps.appOf(server, pinned.pinned.definition);
      return app && { serverId: server.id, uri: app.uri, sha256: app.sha256 };
    },
    check: checkBy(definition.paramsSchema),
    execute: async (input, context) => {
      const call = { server, pinned, input: input as McpInput, context }; // safe: inputs of MCP tools are objects, and checked
      return await within(context.span, {
        action: 'mcp.call',
        target: { type: 'mcp-server', id: server.id },
        payload: { tool: pinned.pinned.definition.name },
      }, async (span) => {
        const result = await callPinned({ ...call, span }, options);
        if (result.isError) span?.end({ status: 'error', error: toolError });
        const issues = result.isError ? undefined : await outputCheck?.inTurns(result.structuredContent);
        return shapeResult(result, { ...shape, redact: context.redact, ...(issues && { listIssues: () => issues }) });
      });
    },
  };
}

type McpInput = Readonly<Record<string, unknown>>;

interface PinnedCall {
  readonly server: McpServer;
  readonly pinned: PinnedDefinition;
  readonly input: McpInput;
  readonly context: ToolContext;
  readonly responses?: McpInputResponses;
  readonly span: Span | undefined;
}

async function callPinned(call: PinnedCall, options: McpToolOptions): Promise<McpCallResult> {
  const { context: { scope = createRunScope() } } = call;
  try {
    return await answered(
      call,
      options,
      (again) => callInSession(again, options, scope.keep(options, options.openSession)),
    );
  } catch (error) {
    const people = call.server.auth && await options.people?.();
    const interaction = await people?.interactionFor(error, peopleCallOf(call));
    throw interaction && call.context.interrupt?.(interaction) || error;
  } finally {
    if (!call.context.scope) await scope.close(); // a call outside a run has its own connection
  }
}

/** Makes the call with the answers that a person has given since, and asks where the server asks. */
async function answered(
  call: PinnedCall,
  { people: loadPeople }: McpToolOptions,
  send: (call: PinnedCall) => Promise<McpCallResult>,
): Promise<McpCallResult> {
  const { context: { signal, interrupt, interruptionId } } = call;
  const tool = askingOf(call);
  const people = interruptionId === undefined ? undefined : await loadPeople?.();
  const given = interruptionId === undefined ? undefined : await people?.answersFor(interruptionId, tool, { signal });
  const first = await send(given ? { ...call, responses: given.responses } : call);
  const result = await withoutQuestions(first, (responses) => send({ ...call, responses }));
  const { inputRequired } = result;
  if (!inputRequired) return result;
  const interaction = await (await loadPeople?.())?.ask(tool, inputRequired, {
    round: (given?.round ?? 0) + 1,
    signal,
  });
  throw interaction && interrupt?.(interaction) || questionWithoutPerson();
}

function askingOf({ server, pinned, input, context: { principal } }: PinnedCall): AskingTool {
  return { server, principal, fingerprint: pinned.pinned.fingerprint, input };
}

/** A server may want its state back without asking anything: it gets it once. */
async function withoutQuestions(
  result: McpCallResult,
  send: (responses: McpInputResponses) => Promise<McpCallResult>,
): Promise<McpCallResult> {
  const { inputRequests, requestState } = result.inputRequired ?? {};
  const hasQuestions = isRecord(inputRequests) && Object.keys(inputRequests).length > 0;
  if (!result.inputRequired || hasQuestions || requestState === undefined) return result;
  return await send({ inputResponses: {}, requestState });
}

async function callInSession(call: PinnedCall, options: McpToolOptions, session: McpSession): Promise<McpCallResult> {
  const { server, context: { secrets, signal } } = call;
  requireUndrifted(call, options); // no need to connect for what is known to be hidden
  const connection = await session.connection(server, await accessOf(call, options, secrets));
  const compare = () => compareNow(call, options, connection);
  if (options.drift.isDue(server)) await compare();
  requireUndrifted(call, options);
  signal.throwIfAborted();
  try {
    return await callOver(connection, call, options);
  } catch (error) {
    if (refusesTool(error)) {
      // The tool may have been removed or replaced. Where that cannot be found out, the call's own error says enough.
      await compare().catch((cause: unknown) => call.context.report?.(cause, { kind: 'mcp', id: server.id }));
      requireUndrifted(call, options);
    }
    throw withDoubt(error, call);
  }
}

/** What the server is reached with: access tokens, or the secret of its record. */
async function accessOf(
  call: PinnedCall,
  { people }: McpToolOptions,
  secrets: ToolContext['secrets'],
): Promise<ServerAccess> {
  const { server: { auth, secret } } = call;
  const questions = people !== undefined;
  if (!auth) return { secret: secret && secrets[secret.id], questions };
  if (!people) throw noSignIn();
  return { secret: undefined, questions, authorization: (await people()).authorization(peopleCallOf(call)) };
}

function peopleCallOf({ server, context: { principal, signal, protect = () => {}, interruptionId } }: PinnedCall) {
  return { server, principal, signal, protect, interruptionId };
}

async function compareNow(
  { server, context: { signal } }: PinnedCall,
  { drift }: McpToolOptions,
  connection: McpConnection,
): Promise<void> {
  const { instructions } = connection;
  await drift.compare(server, async () => ({ tools: await connection.listTools({ signal }), instructions }));
}

function callOver(connection: McpConnection, call: PinnedCall, options: McpToolOptions): Promise<McpCallResult> {
  const { pinned: { pinned: { definition } }, input, responses, span, context } = call;
  const { signal, progress: onProgress } = context;
  return connection.callTool({
    onQuestion: answersWhileOpen(call, options),
    name: definition.name,
    input,
    responses,
    definition,
    signal,
    timeoutMs: options.timeoutMs,
    traceparent: span && toTraceparent(span),
    onProgress({ progress, total, message }) {
      onProgress?.({
        progress,
        ...(total !== undefined && { total }),
        // The server's words, for people. Redacted first: a changed character would hide a secret.
        ...(message !== undefined && { message: context.redact(message).replace(/\p{C}/gu, ' ') }),
      });
    },
  });
}

/** Answers questions inside the open call. Failures cancel the question: the connection tells them to the server alone. */
function answersWhileOpen(call: PinnedCall, { people: loadPeople }: McpToolOptions): McpCall['onQuestion'] {
  const { server, context: { askWhileOpen: ask, signal, report } } = call;
  if (!ask || !loadPeople) return undefined;
  return async (params) => {
    try {
      return await (await loadPeople()).askWhileOpen(askingOf(call), params, { ask, signal });
    } catch (cause) {
      report?.(cause, { kind: 'mcp', id: server.id });
      return { action: 'cancel' };
    }
  };
}

function questionWithoutPerson(): PinnaceError {
  return new PinnaceError(
    'approval_required',
    'Cannot call the MCP tool: its server asks a person, and no run can wait',
    {
      details: { reason: 'mcp_question' },
    },
  );
}

function requireUndrifted({ server, pinned }: PinnedCall, { drift }: McpToolOptions): void {
  if (!drift.isDrifted(server, pinned.pinned.definition.name)) return;
  throw new PinnaceError(
    'forbidden',
    `Cannot call tool "${pinned.definition.id}": its server no longer offers what was approved; a person must look at it again`,
    { details: { reason: 'mcp_drifted' } },
  );
}

function refusesTool(error: unknown): boolean {
  return error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'invalid_argument');
}

/** A call that changes something and whose answer is lost may have changed it: to try again is not for a machine. */
function withDoubt(error: unknown, { pinned: { definition } }: PinnedCall): unknown {
  if (definition.annotations?.readOnlyHint === true || !(error instanceof PinnaceError)) return error;
  const isLost = error.code === 'deadline_exceeded' || (error.code === 'unavailable' && !isBeforeTheCall(error));
  if (!isLost) return error;
  return new PinnaceError('outcome_unknown', `${error.message}; whether the call had its effect is not known`, {
    cause: error,
    details: { reason: 'answer_lost' },
  });
}

/** Refusals that come before anything is done: of the caller, the session, the status, or the form of the message. */
function isBeforeTheCall({ details }: PinnaceError): boolean {
  return beforeTheCall.has(details?.['reason']) || refusedMessages.has(details?.['rpcCode']);
}

const beforeTheCall: ReadonlySet<unknown> = new Set([
  'mcp_auth',
  'mcp_refused',
  'mcp_session_expired',
  'protocol_unsupported',
  'dependency_unavailable',
  'no_page',
]);
/** JSON-RPC 2.0, 5.1: a parse error, and an invalid request. */
const refusedMessages: ReadonlySet<unknown> = new Set([-32_700, -32_600]);

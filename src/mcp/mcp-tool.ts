/** A pinned MCP tool as a tool that can be called: over the run's one connection, and only while its server keeps to the pin. */

import * as v from 'valibot';
import { plainBase64 } from '../base/base64.ts';
import { PinnaceError } from '../base/errors.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import { canonicalJson, sendable } from '../base/json.ts';
import type { McpServer } from '../base/schema.ts';
import type { McpInputResponses } from '../contracts/mcp/answers.ts';
import type { McpCall, McpCallResult, McpConnection } from '../contracts/mcp/mcp-connector.ts';
import { join, type Label, labelOf, trusted } from '../permission/label.ts';
import { type Span, within } from '../events/span.ts';
import { toTraceparent } from '../events/trace-ids.ts';
import { toolError } from '../tools/call-ends.ts';
import { checkBy, compileJsonSchema } from '../tools/json-schema/json-schema.ts';
import { createRunScope } from '../tools/run-scope.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import type { McpPeople } from './people.ts';
import type { PinWatch } from './pin-watch.ts';
import type { PinnedDefinition } from './pinned-tools.ts';
import type { AskingTool } from './questions.ts';
import type { McpSession, ServerAccess } from './run-session.ts';
import { noSignIn } from './sign-in-failures.ts';

export interface McpToolOptions {
  readonly watch: PinWatch;
  readonly openSession: () => McpSession;
  /** Signs people in and asks them questions. Absent where the composition allows neither. */
  readonly people: (() => Promise<McpPeople>) | undefined;
  readonly timeoutMs: number;
  readonly maxLength: number;
}

/** @throws PinnaceError `invalid_argument` when a pinned schema is none. */
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
    saysWho: true,
    secretOrigin: origin,
    heading: `Call ${pinned.pinned.definition.name} of ${server.alias}`,
    target: () => `MCP server ${server.alias} at ${origin}${pathname}`,
    isAvailable: () => !options.watch.isHidden(server, 'tools', pinned.pinned.definition.name),
    app() {
      const app = options.watch.appOf(server, pinned.pinned.definition);
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
        const unsaid = labelOfResult(server, undefined);
        const result = await callPinned({ ...call, span }, options).catch((error: unknown) => {
          context.label?.(unsaid);
          throw error;
        });
        context.label?.(labelOfResult(server, result));
        if (result.isError) span?.end({ status: 'error', error: toolError });
        const issues = result.isError ? undefined : await outputCheck?.inTurns(result.structuredContent);
        return shapeResult(result, { ...shape, redact: context.redact, ...(issues && { listIssues: () => issues }) });
      });
    },
  };
}

/**
 * Returns the label of a result, or of a failure: what a server says of it can make it stricter, and less strict only where its record
 * says `ifc: 'believe'`. Each block may say its own.
 */
export function labelOfResult(
  { alias, trust, ifc }: Pick<McpServer, 'alias' | 'trust' | 'ifc'>,
  result: McpCallResult | undefined,
): Label {
  const source = `mcp:${alias}`;
  const usual = trust ? trusted : labelOf([source], 'tenant');
  if (!result) return usual;
  const whole = readIfc(result.ifc);
  const blocks = result.content.map((block) => readIfc(asRecord(asRecord(block)['_meta'])['ifc']) ?? whole);
  const said = blocks.length > 0 ? blocks : [whole];
  const labels = said.map((one) => {
    if (!one) return usual;
    const readers = one.confidentiality === 'private' ? 'principal' : 'public';
    const own = labelOf(one.integrity === 'untrusted' ? [source] : [], readers);
    return ifc === 'believe' ? own : join(usual, own);
  });
  return labels.reduce(join, whole?.confidentiality === 'private' ? labelOf([], 'principal') : trusted);
}

const Ifc = v.object({
  integrity: v.picklist(['trusted', 'untrusted']),
  confidentiality: v.picklist(['public', 'private']),
});

/** Half a pair says nothing. */
function readIfc(data: unknown): v.InferOutput<typeof Ifc> | undefined {
  const read = v.safeParse(Ifc, data);
  return read.success ? read.output : undefined;
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
  if (options.watch.isDue(server, 'tools')) await compare();
  requireUndrifted(call, options);
  signal.throwIfAborted();
  try {
    return await callOver(connection, call, options);
  } catch (error) {
    if (error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'invalid_argument')) {
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
  { watch }: McpToolOptions,
  connection: McpConnection,
): Promise<void> {
  const { instructions } = connection;
  await watch.compare(server, 'tools', async () => ({ items: await connection.listTools({ signal }), instructions }));
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

function requireUndrifted({ server, pinned }: PinnedCall, { watch }: McpToolOptions): void {
  if (!watch.isHidden(server, 'tools', pinned.pinned.definition.name)) return;
  throw new PinnaceError(
    'forbidden',
    `Cannot call tool "${pinned.definition.id}": its server no longer offers what was approved; a person must look at it again`,
    { details: { reason: 'mcp_drifted' } },
  );
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

/** The output of an MCP tool. What the server said is facts to judge, never instructions. */
interface McpToolOutput {
  readonly source: string;
  /** The tool reports a failure; `content` has the reason. */
  readonly isError?: true;
  readonly data?: unknown;
  readonly content?: readonly McpContent[];
  /** Whether there was more. */
  readonly truncated?: true;
}

type McpContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'link'; readonly uri: string; readonly name?: string }
  | { readonly type: 'image' | 'audio' | 'resource'; readonly mimeType?: string; readonly base64: string }
  /** Something that a model cannot read as text, and how long it is as base64. */
  | { readonly type: 'image' | 'audio' | 'resource' | 'other'; readonly mimeType?: string; readonly omitted: number };

/** How a result is shaped. What is cut short loses its secrets before. */
interface ResultOptions extends Pick<ToolContext, 'redact'> {
  readonly source: string;
  /** The longest text of all blocks together, and the longest structured result as JSON, in UTF-16 code units. */
  readonly maxLength: number;
  /** Whether the result keeps images, sounds and files. */
  readonly media: boolean;
  /** What is wrong with a structured result, by the pinned output schema; absent where none is pinned. */
  readonly listIssues?: ((data: unknown) => readonly unknown[]) | undefined;
}

/**
 * @throws PinnaceError `unavailable` with the reason `mcp_output_invalid` for a result that breaks the pinned output schema. A
 * result that says that the tool failed is not held to it.
 */
export function shapeResult(result: McpCallResult, options: ResultOptions): McpToolOutput {
  const { isError, structuredContent } = result;
  if (!isError && options.listIssues) checkOutput(structuredContent, options.listIssues);
  const data = structuredContent === undefined ? {} : cutData(structuredContent, options);
  const { content, truncated } = cutContent(withoutCopy(result), options);
  return {
    source: options.source,
    ...(isError && { isError: true as const }),
    ...data,
    ...((content.length > 0 || structuredContent === undefined) && { content }),
    ...(truncated && { truncated: true as const }),
  };
}

function checkOutput(data: unknown, listIssues: (data: unknown) => readonly unknown[]): void {
  if (data !== undefined && listIssues(data).length === 0) return;
  throw new PinnaceError(
    'unavailable',
    'Cannot use the result: it is not as the approved output schema says',
    { retryable: false, details: { reason: 'mcp_output_invalid' } },
  );
}

function cutData(data: unknown, { maxLength, redact }: ResultOptions): Pick<McpToolOutput, 'data' | 'truncated'> {
  const text = JSON.stringify(data);
  return text.length <= maxLength ? { data: sendable(data) } : { data: cut(text, maxLength, redact), truncated: true };
}

function cut(text: string, maxLength: number, redact: ResultOptions['redact']): string {
  return (text.length <= maxLength ? text : redact(text).slice(0, maxLength)).toWellFormed();
}

/** Servers repeat a structured result as text, for clients that know no other: a model needs it once. */
function withoutCopy({ content, structuredContent }: McpCallResult): readonly unknown[] {
  if (structuredContent === undefined) return content;
  const copy = canonicalJson(structuredContent);
  return content.filter((block) => !isCopy(asRecord(block)['text'], copy));
}

function isCopy(text: unknown, copy: string): boolean {
  if (typeof text !== 'string') return false;
  try {
    return canonicalJson(JSON.parse(text)) === copy;
  } catch {
    return false;
  }
}

const maxBlocks = 100;

function cutContent(
  blocks: readonly unknown[],
  options: ResultOptions,
): { readonly content: readonly McpContent[]; readonly truncated: boolean } {
  let left = options.maxLength;
  let truncated = blocks.length > maxBlocks;
  const content = blocks.slice(0, maxBlocks).map((block): McpContent => {
    const shaped = shapeBlock(asRecord(block), options);
    if (shaped.type !== 'text') return shaped;
    if (shaped.text.length > left) truncated = true;
    const text = cut(shaped.text, left, options.redact);
    left -= text.length;
    return { type: 'text', text };
  });
  return { content: content.filter((block) => block.type !== 'text' || block.text !== ''), truncated };
}

function shapeBlock(block: Readonly<Record<string, unknown>>, { media, redact }: ResultOptions): McpContent {
  const { text, data, uri, name, type = text === undefined ? undefined : 'text' } = block;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'text') return { type, text: text === undefined || text === null ? '' : JSON.stringify(text) };
  if (type === 'image' || type === 'audio') return binary(type, { data, mimeType: block['mimeType'] }, media);
  if (type === 'resource_link' && typeof uri === 'string') {
    const named = typeof name === 'string' && { name: cut(name, 200, redact) };
    return { type: 'link', uri: cut(uri, 2048, redact), ...named };
  }
  if (type !== 'resource') return { type: 'other', omitted: 0 };
  const resource = asRecord(block['resource']);
  if (typeof resource['text'] === 'string') return { type: 'text', text: resource['text'] };
  return binary(type, { data: resource['blob'], mimeType: resource['mimeType'] }, media);
}

function binary(
  type: 'image' | 'audio' | 'resource',
  { data, mimeType }: { readonly data: unknown; readonly mimeType: unknown },
  media: boolean,
): McpContent {
  const { base64, mimeType: own = mimeType } = plainBase64(data);
  const kind = typeof own === 'string' ? { mimeType: own.slice(0, 100).replace(/^image\/jpg$/i, 'image/jpeg') } : {};
  return media ? { type, ...kind, base64 } : { type, ...kind, omitted: base64.length };
}

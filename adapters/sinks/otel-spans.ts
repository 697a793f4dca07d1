/** What an event says as a span: its name, its kind and its attributes. */

import type { Attributes, SpanKind, SpanStatus } from '@opentelemetry/api';
import type { ObservedEvent } from '../../src/contracts/event-sink.ts';
import { readSummary } from '../../src/events/payload-summary.ts';
import { attribute, mcpToolCall, operation } from './otel-names.ts';

/** Values of the API, which may not be installed where this module is loaded. */
const spanKind: { readonly internal: SpanKind; readonly client: SpanKind } = { internal: 0, client: 2 };
const statusCode: { readonly unset: SpanStatus['code']; readonly error: SpanStatus['code'] } = { unset: 0, error: 2 };

export interface SpanShape {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

type Payload = ReturnType<typeof readSummary>;
type Shape = (event: ObservedEvent, payload: Payload) => SpanShape;

/** Names hold ids of agents, models, tools and data sources, of which there are few, and never any other. */
const shapes: Readonly<Record<string, Shape>> = {
  'run.start': (event) => genAi(event, operation.invokeAgent, attribute.agentName),
  'run.end': (event) => genAi(event, operation.invokeAgent, attribute.agentName),
  'model.call': (event) => ({ ...genAi(event, operation.chat, attribute.model), kind: spanKind.client }),
  'tool.call': (event) => genAi(event, operation.executeTool, attribute.toolName),
  'retrieve': (event) => genAi(event, operation.retrieval, attribute.dataSource),
  'grounding.retrieve': (event) => genAi(event, operation.retrieval, attribute.dataSource),
  'plan.start': () => spanOf(operation.plan),
  'plan.end': () => spanOf(operation.plan),
  'agent.create': subAgent,
  'agent.end': subAgent,
  'mcp.call': (_, { tool }) => ({
    name: tool === undefined ? mcpToolCall : `${mcpToolCall} ${tool}`,
    kind: spanKind.client,
    attributes: { [attribute.mcpMethod]: mcpToolCall, ...(tool !== undefined && { [attribute.toolName]: tool }) },
  }),
  'http.request': ({ target }, { method = 'HTTP' }) => ({
    name: String(method),
    kind: spanKind.client,
    attributes: { [attribute.httpMethod]: method, ...serverOf(target.id) },
  }),
};

export function shapeOf(event: ObservedEvent): SpanShape {
  const shape = Object.hasOwn(shapes, event.action) ? shapes[event.action] : undefined;
  const { attributes, ...named } = (shape ?? plain)(event, readSummary(event.payloadSummary));
  return { ...named, attributes: { ...attributes, ...ownOf(event) } };
}

export function endOf(event: ObservedEvent): Attributes {
  const payload = readSummary(event.payloadSummary);
  const { runId, runtimeId, toolCallId, provider, finishReason, httpStatus } = payload;
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, firstChunkMs } = payload;
  return {
    ...failureOf(event),
    ...defined({
      [attribute.payload]: event.payloadSummary || undefined,
      [attribute.runId]: runId,
      [attribute.runtimeId]: runtimeId,
      [attribute.toolCallId]: toolCallId,
      [attribute.provider]: provider,
      [attribute.inputTokens]: inputTokens,
      [attribute.outputTokens]: outputTokens,
      [attribute.cachedTokens]: cachedTokens,
      [attribute.cacheWriteTokens]: cacheWriteTokens,
      [attribute.timeToFirstChunk]: typeof firstChunkMs === 'number' ? firstChunkMs / 1000 : undefined,
      [attribute.finishReasons]: finishReason === undefined ? undefined : [String(finishReason)],
      [attribute.httpStatus]: httpStatus,
    }),
  };
}

export function failureOf({ status, error }: ObservedEvent): Attributes {
  return {
    [attribute.status]: status,
    ...(error && { [attribute.errorType]: error.code, [attribute.retryable]: error.retryable }),
  };
}

/** Only what failed is an error: a refusal and a cancellation are answers. */
export function statusOf({ status, error }: ObservedEvent): SpanStatus {
  if (status !== 'error') return { code: statusCode.unset };
  return { code: statusCode.error, ...(error && { message: error.message }) };
}

/** What every span and every event within one says. */
export function ownOf({ action, actor, target, spanId }: ObservedEvent): Attributes {
  return {
    [attribute.action]: action,
    [attribute.actorType]: actor.type,
    [attribute.actorId]: actor.id,
    [attribute.targetType]: target.type,
    [attribute.targetId]: target.id,
    ...(spanId !== undefined && { [attribute.spanId]: spanId }),
  };
}

function genAi({ target: { id } }: ObservedEvent, name: string, targetName: string): SpanShape {
  return {
    name: `${name} ${id}`,
    kind: spanKind.internal,
    attributes: { [attribute.operation]: name, [targetName]: id },
  };
}

/** The span lasts as long as the agent works. An agent without a record has its address as id, of which there are many. */
function subAgent(event: ObservedEvent): SpanShape {
  return event.target.type === 'agent' && !/^\d+(-\d+)*$/.test(event.target.id)
    ? genAi(event, operation.invokeAgent, attribute.agentName)
    : spanOf(operation.createAgent);
}

/** Without the target: there are as many as plans. */
function spanOf(name: string): SpanShape {
  return { name, kind: spanKind.internal, attributes: { [attribute.operation]: name } };
}

function plain({ action }: ObservedEvent): SpanShape {
  return { name: action, kind: spanKind.internal, attributes: {} };
}

function serverOf(origin: string): Attributes {
  if (!URL.canParse(origin)) return {};
  const { hostname, port, protocol } = new URL(origin);
  return {
    [attribute.serverAddress]: hostname,
    [attribute.serverPort]: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
  };
}

function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** The data parts that Pinnace adds to the AI SDK's UI message stream, as schemas. */

import * as v from 'valibot';
import { type Answer, ErrorData, named, type Shape, shapeOf, Usage } from './operation.ts';

/** How a run is, or has ended. */
export const RunStateName = v.picklist([
  'running',
  'completed',
  'awaiting_approval',
  'suspended',
  'stopped',
  'cancelled',
  'failed',
  'interrupted',
]);

const RunPart = v.object({
  type: v.literal('data-run'),
  id: v.string(),
  data: v.object({
    runId: v.string(),
    traceId: v.string(),
    state: RunStateName,
    error: v.optional(ErrorData),
    /** The sources that the result of a plan cites. */
    cites: v.optional(v.array(v.string())),
  }),
});

const ManifestPart = v.object({
  type: v.literal('data-manifest'),
  data: v.object({
    digest: v.string(),
    /** The names of the first 64 tools. */
    included: v.array(v.string()),
    /** How many tools the run had besides those named; absent when none. */
    more: v.optional(v.number()),
    /** How many tools are left out, by reason. */
    excluded: v.record(v.string(), v.number()),
  }),
});

/** The run that this one goes on from. */
const ForkPart = v.object({
  type: v.literal('data-fork'),
  id: v.string(),
  data: v.object({
    parent: v.string(),
    atStep: v.number(),
    chatId: v.string(),
    changed: v.array(v.string()),
    effects: v.picklist(['dry', 'live']),
    exact: v.boolean(),
  }),
});

const UsagePart = v.object({ type: v.literal('data-usage'), data: Usage });

/** A fallback that answers from here on. */
const ModelPart = v.object({
  type: v.literal('data-model'),
  data: v.object({ providerId: v.string(), modelId: v.string() }),
});

/** The model call is tried again; the next chunk ends it. */
const RetryPart = v.object({
  type: v.literal('data-retry'),
  data: v.object({
    /** The number of the try that follows, from 1. */
    attempt: v.number(),
    of: v.number(),
    delayMs: v.number(),
    /** Milliseconds since 1970. */
    retryAt: v.number(),
    providerId: v.string(),
    modelId: v.string(),
    isFallback: v.optional(v.boolean()),
    code: v.string(),
    reason: v.optional(v.string()),
  }),
  transient: v.literal(true),
});

/** How far a call is. */
const ToolProgressPart = v.object({
  type: v.literal('data-tool-progress'),
  id: v.string(),
  data: v.object({
    toolCallId: v.string(),
    progress: v.number(),
    total: v.optional(v.number()),
    message: v.optional(v.string()),
  }),
  transient: v.literal(true),
});

/** The app that shows the result of a call. */
const McpAppPart = v.object({
  type: v.literal('data-mcp-app'),
  id: v.string(),
  data: v.object({ toolCallId: v.string(), serverId: v.string(), uri: v.string(), sha256: v.string() }),
});

/** The answer as data, where the request or the agent has an `output`. */
const OutputPart = v.object({ type: v.literal('data-output'), id: v.string(), data: v.unknown() });

const ToolErrorPart = v.object({
  type: v.literal('data-tool-error'),
  data: v.object({
    toolCallId: v.string(),
    tool: v.string(),
    ...ErrorData.entries,
    attempt: v.number(),
    traceId: v.string(),
  }),
});

const ToolLogPart = v.object({
  type: v.literal('data-tool-log'),
  data: v.object({ toolCallId: v.string(), level: v.string(), text: v.string() }),
  transient: v.literal(true),
});

const SteeringPart = v.object({
  type: v.literal('data-steering'),
  id: v.string(),
  data: v.object({ messageId: v.string(), state: v.literal('undelivered') }),
});

const AttachmentPart = v.object({
  type: v.literal('data-attachment'),
  id: v.string(),
  data: v.object({
    messageId: v.string(),
    /** The index of the message's part. */
    part: v.number(),
    url: v.string(),
    mediaType: v.string(),
    size: v.number(),
  }),
});

const PlanTask = v.object({
  address: v.string(),
  key: v.optional(v.string()),
  goal: v.string(),
  agentId: v.optional(v.string()),
  role: v.optional(v.string()),
  status: v.picklist(['waiting', 'ready', 'done', 'failed', 'cancelled']),
  after: v.array(v.string()),
  attempt: v.number(),
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
  used: v.optional(v.object({ tokens: v.number(), cost: v.number() })),
  error: v.optional(v.pick(v.object({ ...ErrorData.entries }), ['code', 'retryable', 'retryAfterMs'])),
});

const Plan = v.object({
  planId: v.string(),
  traceId: v.string(),
  state: v.picklist(['new', 'running', 'suspended', 'done', 'failed', 'cancelled']),
  paused: v.boolean(),
  goal: v.string(),
  seq: v.number(),
  revision: v.number(),
  outline: v.array(v.string()),
  facts: v.array(v.string()),
  counts: v.record(v.string(), v.number()),
  tasks: v.array(PlanTask),
  omitted: v.number(),
  questions: v.array(v.object({
    ask: v.string(),
    agent: v.string(),
    kind: v.picklist(['question', 'approval', 'lost_call']),
    question: v.string(),
    options: v.optional(v.array(v.string())),
    expiresAt: v.number(),
  })),
  used: v.record(v.string(), v.number()),
  currency: v.optional(v.string()),
  deadlineAt: v.number(),
});

/** A plan, as `data-plan` and `GET /v1/plans/:id` show it. */
export const planShape = named('Plan', shapeOf(Plan));

const planPart: Shape = (components) => ({
  type: 'object',
  properties: { type: { const: 'data-plan' }, id: { type: 'string' }, data: planShape(components) },
  required: ['type', 'data'],
});

const parts: Readonly<Record<string, Shape>> = {
  'data-run': named('RunPart', shapeOf(RunPart)),
  'data-manifest': named('ManifestPart', shapeOf(ManifestPart)),
  'data-fork': named('ForkPart', shapeOf(ForkPart)),
  'data-plan': named('PlanPart', planPart),
  'data-output': named('OutputPart', shapeOf(OutputPart)),
  'data-usage': named('UsagePart', shapeOf(UsagePart)),
  'data-model': named('ModelPart', shapeOf(ModelPart)),
  'data-retry': named('RetryPart', shapeOf(RetryPart)),
  'data-tool-error': named('ToolErrorPart', shapeOf(ToolErrorPart)),
  'data-steering': named('SteeringPart', shapeOf(SteeringPart)),
  'data-attachment': named('AttachmentPart', shapeOf(AttachmentPart)),
  'data-tool-log': named('ToolLogPart', shapeOf(ToolLogPart)),
  'data-mcp-app': named('McpAppPart', shapeOf(McpAppPart)),
  'data-tool-progress': named('ToolProgressPart', shapeOf(ToolProgressPart)),
};

const otherChunk = named('UIMessageChunk', () => ({
  type: 'object',
  description: "A chunk of the AI SDK's UI message stream",
  properties: { type: { type: 'string', not: { enum: Object.keys(parts) } } },
  required: ['type'],
}));

/** The shape of an event stream whose events carry this data. */
export function eventsOf(description: string, data: Shape): Answer {
  const shape: Shape = (components) => ({
    type: 'string',
    contentMediaType: 'text/event-stream',
    contentSchema: { type: 'array', description: 'The data of each event, as JSON', items: data(components) },
  });
  return { description, content: { 'text/event-stream': shape } };
}

export const runStream: Answer = eventsOf(
  'An event stream of UI message chunks; the id of each is `<runId>:<seq>`. After the last comes the data `[DONE]`',
  named('StreamPart', (components) => ({
    oneOf: [...Object.values(parts), otherChunk].map((part) => part(components)),
  })),
);

/** The runtime's own data parts, read once where they arrive. */

import * as v from 'valibot';

const count = v.pipe(v.number(), v.minValue(0));

/** An error in a stream and in a stored chat. */
export const ErrorShape = v.object({
  code: v.string(),
  message: v.string(),
  retryable: v.optional(v.boolean(), false),
  retryAfterMs: v.optional(count),
  details: v.optional(v.record(v.string(), v.unknown())),
});

export type ErrorShape = v.InferOutput<typeof ErrorShape>;

/** `data-run`: the run's id and state. */
export const RunData = v.object({
  runId: v.string(),
  traceId: v.optional(v.string()),
  state: v.optional(v.string()),
  error: v.optional(ErrorShape),
  /** What it has read that others have written: sources such as `mcp:mail`. */
  read: v.optional(v.array(v.string())),
});
export type RunData = v.InferOutput<typeof RunData>;

/** `data-usage`: what the run has used. */
export const Usage = v.object({
  inputTokens: v.optional(count),
  outputTokens: v.optional(count),
  totalTokens: v.optional(count),
  steps: v.optional(count, 0),
  toolCalls: v.optional(count, 0),
  durationMs: v.optional(count, 0),
  toolTokens: v.optional(count, 0),
  toolTokensSaved: v.optional(count, 0),
  cachedInputTokens: v.optional(count),
  /** What caches could have had, and where a prompt did not extend the one before. */
  cache: v.optional(v.object({
    cacheableTokens: count,
    breaks: v.array(v.object({ reason: v.string(), lostTokens: count })),
  })),
  reasoningTokens: v.optional(count),
  /** Part of it is an estimate. */
  estimated: v.optional(v.literal(true)),
  cost: v.optional(v.object({ amount: v.number(), currency: v.string() })),
});
export type Usage = v.InferOutput<typeof Usage>;

/** Returns what two runs used together: an answer that waited for a person takes more than one. */
export function addUsage(before: Usage | undefined, after: Usage | undefined): Usage | undefined {
  if (!before || !after) return after ?? before;
  const sums: Record<string, unknown> = {};
  for (const [name, value] of [...Object.entries(before), ...Object.entries(after)]) {
    if (typeof value === 'number') sums[name] = Number(sums[name] ?? 0) + value;
  }
  return readAs(Usage, {
    ...sums,
    ...(before.cache && after.cache && {
      cache: {
        cacheableTokens: before.cache.cacheableTokens + after.cache.cacheableTokens,
        breaks: [...before.cache.breaks, ...after.cache.breaks],
      },
    }),
    ...((before.estimated || after.estimated) && { estimated: true }),
    ...(before.cost && after.cost?.currency === before.cost.currency && {
      cost: { ...after.cost, amount: before.cost.amount + after.cost.amount },
    }),
  });
}

/** `data-compaction`: what earlier messages were summarized to. */
export const CompactionData = v.object({
  throughMessageId: v.optional(v.string()),
  summary: v.optional(v.string()),
  shortenedThrough: v.optional(v.string()),
  shortenedResults: v.optional(count),
  loaded: v.optional(v.array(v.string())),
  tokensBefore: v.optional(count, 0),
  tokensAfter: v.optional(count, 0),
  citations: v.optional(count),
});
export type CompactionData = v.InferOutput<typeof CompactionData>;

/** `data-context`: what the run was given besides the chat. It goes back as it came. */
export const ContextData = v.record(v.string(), v.unknown());
export type ContextData = v.InferOutput<typeof ContextData>;

/** `data-model`: the fallback that took over. */
export const Fallback = v.object({ providerId: v.string(), modelId: v.string() });
export type Fallback = v.InferOutput<typeof Fallback>;

/** `data-retry`: the model is called again. */
export const RetryData = v.object({
  attempt: count,
  of: count,
  delayMs: count,
  retryAt: v.number(),
  modelId: v.string(),
  isFallback: v.optional(v.boolean(), false),
  code: v.string(),
  reason: v.optional(v.string()),
});
export type RetryData = v.InferOutput<typeof RetryData>;

/** `data-tool-error`: why a tool call failed. */
export const ToolFailure = v.object({
  toolCallId: v.string(),
  tool: v.optional(v.string(), ''),
  code: v.string(),
  message: v.string(),
  retryable: v.optional(v.boolean(), false),
  attempt: v.optional(count, 1),
  traceId: v.optional(v.string()),
});
export type ToolFailure = v.InferOutput<typeof ToolFailure>;

/** The facts of a call that waits for a person, field by field. */
export const AskedCall = v.object({
  /** What is to be done, a constant of the tool; absent from earlier runtimes. */
  title: v.optional(v.string()),
  /** What it is done to, as the tool shows it. */
  quote: v.optional(v.string()),
  changes: v.optional(v.array(v.object({ label: v.string(), before: v.string(), after: v.string() }))),
  moreChanges: v.optional(v.number()),
  /** The tool could not show this call. */
  noPreview: v.optional(v.literal(true)),
  tool: v.string(),
  target: v.optional(v.string()),
  rule: v.optional(v.string()),
  /** Who decides in place of the owner. */
  approvers: v.optional(v.array(v.string())),
  /** The person who has asked may not decide. */
  fourEyes: v.optional(v.literal(true)),
  fields: v.array(
    v.object({
      key: v.string(),
      value: v.string(),
      declared: v.boolean(),
      label: v.optional(v.string()),
      shortened: v.optional(v.object({ length: count, sha256: v.string() })),
      path: v.array(v.union([v.string(), v.number()])),
      from: v.optional(v.array(v.string())),
      destination: v.optional(v.literal(true)),
      planned: v.optional(v.literal(true)),
    }),
  ),
  /** Who has written the call; absent in open agents, whose fields do not say where they are from. */
  by: v.optional(v.picklist(['model', 'program'])),
});
export type AskedCall = v.InferOutput<typeof AskedCall>;

/** The approval request of a call. `elsewhere`: it was answered in another tab or before a reload. */
export const Approval = v.object({
  id: v.string(),
  runId: v.string(),
  /** The runtime's text of the question. */
  reason: v.optional(v.string()),
  /** The same, field by field; absent from runtimes that only send the text. */
  asked: v.optional(AskedCall),
  decision: v.optional(
    v.union([v.literal('elsewhere'), v.object({ approved: v.boolean(), reason: v.optional(v.string()) })]),
  ),
  /** Why it could not be answered. */
  problem: v.optional(v.string()),
});
export type Approval = v.InferOutput<typeof Approval> & {
  /** The answer is on its way to the runtime. */
  readonly isPending?: boolean;
};

/** `data-interruption`: what an MCP server needs of a person before a call can go on. Its card reads the rest. */
export const Need = v.looseObject({
  id: v.string(),
  kind: v.string(),
  toolCallId: v.string(),
  /** The call waits for the answer now, in its running run. */
  isOpen: v.optional(v.boolean()),
  /** What the person did. */
  answer: v.optional(v.string()),
});
export type Need = v.InferOutput<typeof Need>;

/** `data-mcp-app`: the approved app of an MCP server that shows the result of a call. */
export const AppRef = v.object({ toolCallId: v.string(), serverId: v.string(), uri: v.string(), sha256: v.string() });
export type AppRef = v.InferOutput<typeof AppRef>;

/** A line that a tool wrote while it worked. */
export const LogLine = v.object({ level: v.optional(v.string(), 'info'), text: v.string() });
export type LogLine = v.InferOutput<typeof LogLine>;

/** `data-tool-log`: a log line with its call. */
export const ToolLog = v.object({ toolCallId: v.string(), ...LogLine.entries });

/** `data-tool-progress`: how far a call is. */
export const ToolProgress = v.object({
  toolCallId: v.string(),
  progress: v.number(),
  total: v.optional(v.number()),
  message: v.optional(v.string()),
});
export type ToolProgress = v.InferOutput<typeof ToolProgress>;

/** Returns the value as the schema describes it, or nothing: what is malformed is not worth breaking an answer. */
export function readAs<S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> | undefined {
  const result = v.safeParse(schema, value);
  return result.success ? result.output : undefined;
}

export const line = v.pipe(v.number(), v.integer(), v.minValue(1));

/** A source with its number `[n]`. */
export const CitedSource = v.object({
  n: v.pipe(v.number(), v.integer(), v.minValue(1)),
  dataSourceId: v.string(),
  id: v.string(),
  title: v.optional(v.string()),
  uri: v.string(),
  path: v.optional(v.string()),
  lines: v.optional(v.pipe(v.array(line), v.length(2))),
  version: v.string(),
  confidence: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  answered: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  contentHash: v.string(),
});

export type CitedSource = v.InferOutput<typeof CitedSource>;

/** `data-sources`: what the output of a call rests on. */
export const CitedSources = v.object({ toolCallId: v.string(), sources: v.array(CitedSource) });

/** What an answer may cite because of one call. */
export interface CitationsPart {
  readonly type: 'citations';
  readonly toolCallId: string;
  readonly sources: readonly CitedSource[];
}

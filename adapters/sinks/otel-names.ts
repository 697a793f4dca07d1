/**
 * All OpenTelemetry names, in one file because they still change: the conventions for generative AI and MCP
 * (open-telemetry/semantic-conventions-genai, status Development), those for HTTP and errors, and our own under `pinnace.`.
 */

export const scope = 'pinnace';

export const attribute = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  agentName: 'gen_ai.agent.name',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  dataSource: 'gen_ai.data_source.id',
  mcpMethod: 'mcp.method.name',
  errorType: 'error.type',
  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  action: 'pinnace.action',
  actorType: 'pinnace.actor.type',
  actorId: 'pinnace.actor.id',
  targetType: 'pinnace.target.type',
  targetId: 'pinnace.target.id',
  status: 'pinnace.status',
  retryable: 'pinnace.error.retryable',
  payload: 'pinnace.payload.summary',
  runId: 'pinnace.run.id',
  /** The caller's own runtime, as the run request names it. */
  runtimeId: 'pinnace.runtime.id',
  /** The id that the event has, where the provider makes ids of its own. */
  spanId: 'pinnace.span.id',
} as const;

export const operation = {
  invokeAgent: 'invoke_agent',
  createAgent: 'create_agent',
  chat: 'chat',
  executeTool: 'execute_tool',
  retrieval: 'retrieval',
  plan: 'plan',
} as const;

/** The one method of MCP that a run calls a tool by. */
export const mcpToolCall = 'tools/call';

export const metric = {
  inferenceDuration: 'gen_ai.client.inference.duration',
  timeToFirstChunk: 'gen_ai.client.inference.time_to_first_chunk',
  inputTokens: 'gen_ai.client.inference.usage.input_tokens',
  outputTokens: 'gen_ai.client.inference.usage.output_tokens',
  agentDuration: 'gen_ai.invoke_agent.duration',
  agentInferenceCalls: 'gen_ai.invoke_agent.inference_calls',
  agentToolCalls: 'gen_ai.invoke_agent.tool_calls',
  toolDuration: 'gen_ai.execute_tool.duration',
  mcpDuration: 'mcp.client.operation.duration',
} as const;

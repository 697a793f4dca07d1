/** `pinnace/tools`: tools as code, as HTTP requests and as extensions, and the one way to call them. */

export { type EgressList, narrowEgress } from '../base/egress-list.ts';
export type {
  AnswersTo,
  CallingClient,
  ClientAnswers,
  ClientQuestion,
  ClientQuestions,
} from './client/calling-client.ts';
export { calculatorTool } from './builtin/calculator.ts';
export { currentTimeTool } from './builtin/current-time.ts';
export { type FetchUrlOptions, fetchUrlTool } from './builtin/fetch-url.ts';
export { type ContentBlock, type ContentOutput, contentOutput } from './content/content.ts';
export { defineTool, type ToolOptions } from './define-tool.ts';
export { type ExtensionModule, type Handlers, loadExtension } from './extension.ts';
export { HttpMethod, HttpToolConfig, type HttpToolConfigInput, needsApproval } from './http/config.ts';
export { createHttpTool, type HttpToolDefinition, type HttpToolOptions } from './http/http-tool.ts';
export {
  type InvokeOptions as ToolCall,
  invokeTool,
  prepareCall,
  type PreparedCall,
  type PrepareOptions,
} from './invoke-tool.ts';
export { type AiTool, fromAiTool, type FromAiToolOptions } from './schema/from-ai-tool.ts';
export type { AnySchema, SchemaInput, SchemaOutput } from './schema/schema-types.ts';
export type { ToolsOf } from './schema/tools-of.ts';
export type { ToolSource } from './tool-source.ts';
export type { CitedSource, LogLevel, Progress, Tool, ToolContext, ToolOutcome, TypedTool } from './tool.ts';

/** `pinnace/tools`: tools as code, as HTTP requests and as extensions, and the one way to call them. */

export { type EgressList, narrowEgress } from '../base/origins.ts';
export type {
  AnswersTo,
  CallingClient,
  CitedSource,
  ClientAnswers,
  ClientQuestion,
  ClientQuestions,
  LogLevel,
  Progress,
  Tool,
  ToolContext,
  ToolOutcome,
  TypedTool,
} from './tool.ts';
export { calculatorTool } from './builtin/calculator.ts';
export { currentTimeTool } from './builtin/current-time.ts';
export { type FetchUrlOptions, fetchUrlTool } from './builtin/fetch-url.ts';
export { type ContentBlock, type ContentOutput, contentOutput } from './content.ts';
export {
  type AiTool,
  defineTool,
  type ExtensionModule,
  fromAiTool,
  type FromAiToolOptions,
  type Handlers,
  loadExtension,
  type ToolOptions,
} from './define-tool.ts';
export { HttpMethod, HttpToolConfig, type HttpToolConfigInput, needsApproval } from './http-config.ts';
export type { HttpToolOptions } from './call-http.ts';
export type { CallPreview, PreviewContext, PreviewValue } from './tool.ts';
export { createHttpTool, type HttpToolDefinition, type ToolSource } from './implement.ts';
export {
  type InvokeOptions as ToolCall,
  invokeTool,
  prepareCall,
  type PreparedCall,
  type PrepareOptions,
} from './invoke-tool.ts';
export type { AnySchema, SchemaInput, SchemaOutput, ToolsOf } from './make-tool.ts';

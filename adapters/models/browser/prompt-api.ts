/** The Prompt API of browsers (https://webmachinelearning.github.io/prompt-api/), as far as it is used. TypeScript's types lack it. */

/** Whether the browser's model can answer. `downloadable`: after a download that a click starts. */
export type BrowserModelAvailability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface PromptOptions {
  readonly responseConstraint?: unknown;
  readonly signal?: AbortSignal;
}

export interface PromptSession {
  /** Tokens that the conversation holds; absent in older versions. */
  readonly contextUsage?: number;
  prompt(input: readonly PromptMessage[], options?: PromptOptions): Promise<string>;
  promptStreaming(input: readonly PromptMessage[], options?: PromptOptions): ReadableStream<string>;
  /** The tokens that this input adds. */
  measureContextUsage?(input: readonly PromptMessage[], options?: PromptOptions): Promise<number>;
  clone(options?: { readonly signal?: AbortSignal }): Promise<PromptSession>;
  destroy(): void;
}

/** What a conversation starts with. `availability` takes the same options. */
export interface PromptSessionOptions {
  readonly initialPrompts?: readonly PromptMessage[];
  readonly expectedOutputs?: readonly { readonly type: 'text'; readonly languages: readonly string[] }[];
  readonly monitor?: (monitor: EventTarget) => void;
  readonly signal?: AbortSignal;
}

/** The global `LanguageModel`. Windows of secure contexts have it, workers do not. */
export interface PromptApi {
  availability(options?: PromptSessionOptions): Promise<BrowserModelAvailability>;
  create(options?: PromptSessionOptions): Promise<PromptSession>;
}

export function promptApi(): PromptApi | undefined {
  return (globalThis as { readonly LanguageModel?: PromptApi }).LanguageModel;
}

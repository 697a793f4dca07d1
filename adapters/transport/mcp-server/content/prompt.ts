/** Prompts of an MCP server, as a host gives them. */

import type { ContentBlock } from '../../../../src/tools/content.ts';
import type { McpReader } from './reader.ts';
import type { McpCompletion } from './resource.ts';

/** An argument of a prompt. Its value is text. */
export interface McpPromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  /** Returns values for what was typed so far. The first 100 are sent. */
  readonly complete?: (wanted: McpCompletion, reader: McpReader) => Promise<readonly string[]> | readonly string[];
}

/** A message of a prompt. */
export interface McpPromptMessage {
  readonly role: 'user' | 'assistant';
  /** Text, or a text, an image, a sound or a file as a block. */
  readonly content: string | ContentBlock;
}

/** A prompt that people choose in their client. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly McpPromptArgument[];
  /** Returns the messages. `input` has the required arguments, none that is not declared, each at most 16,384 characters. */
  readonly messages: (
    input: Readonly<Record<string, string>>,
    reader: McpReader,
  ) => Promise<readonly McpPromptMessage[]> | readonly McpPromptMessage[];
}

/** The prompts of all callers, or a function that returns those of a caller. */
export type McpPrompts =
  | readonly McpPrompt[]
  | ((reader: McpReader) => Promise<readonly McpPrompt[]> | readonly McpPrompt[]);

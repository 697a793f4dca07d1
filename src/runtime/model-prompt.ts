/** Messages as a provider receives them: the prompt of the language model specification v4. */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { isRecord } from '../base/is-record.ts';
import { providerSchema } from '../base/object-schema.ts';
import { PinnaceError } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { declaredBy } from '../tools/availability.ts';
import type { ModelMessage } from '../contracts/ai-types.ts';
import { originOf, withOrigin } from './message-parts.ts';
import { foreignCall } from './call-ids.ts';

/** Converts messages; adjacent messages of tools become one, and empty ones are left out. */
export function toPrompt(instructions: string, messages: readonly ModelMessage[]): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  for (const message of messages) {
    const converted = withOrigin(toPromptMessage(message), originOf(message));
    const last = prompt.at(-1);
    if (converted.role === 'tool' && last?.role === 'tool') last.content.push(...converted.content);
    else if (converted.role !== 'tool' || converted.content.length > 0) prompt.push(converted);
  }
  return prompt;
}

type PromptToolSource =
  & Pick<ToolDefinition, 'name' | 'description' | 'paramsSchema'>
  & Partial<Pick<ToolDefinition, 'type' | 'config'>>;

/** What a request declares. */
type PromptTool = NonNullable<LanguageModelV4CallOptions['tools']>[number];

const promptTools = new WeakMap<readonly object[], PromptTool[]>();

/** They come first, in this order. */
const firstTools: readonly string[] = ['tool_find', 'tool_describe', 'tool_load', 'tool_active', 'tool_call'];

/** No order of a catalog reaches a prompt: tools of discovery, then all by name in code units. */
function inOrder({ name: a }: PromptToolSource, { name: b }: PromptToolSource): number {
  const [first, next] = [firstTools.indexOf(a), firstTools.indexOf(b)];
  if (first >= 0 || next >= 0) return (first < 0 ? Infinity : first) - (next < 0 ? Infinity : next);
  return a < b ? -1 : 1;
}

/**
 * The tools as a provider receives them; `undefined` where there are none. Made once for a list of tools: an agent may have thousands,
 * and the steps of all its runs offer the same list.
 */
export function toPromptTools(
  tools: readonly { readonly definition: PromptToolSource }[],
): PromptTool[] | undefined {
  if (tools.length === 0) return undefined;
  const made = promptTools.get(tools) ??
    tools.map(({ definition }) => definition).toSorted(inOrder).map((definition): PromptTool => {
      const { name, description, paramsSchema, type, config } = definition;
      const declared = type && declaredBy({ type, config });
      if (declared) return { type: 'provider', ...declared, name };
      return { type: 'function', name, description, inputSchema: providerSchema(paramsSchema) };
    });
  promptTools.set(tools, made);
  return made;
}

function toPromptMessage(message: ModelMessage): LanguageModelV4Message {
  const options = optionsOf(message.providerOptions);
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content, ...options };
    case 'user': {
      const content = partsOf(message.content).filter((part) => part.type !== 'text' || part.text !== '');
      return { role: 'user', content: content.map(toUserPart), ...options };
    }
    case 'assistant':
      return { role: 'assistant', content: partsOf(message.content).flatMap(toAssistantPart), ...options };
    default:
      return { role: 'tool', content: message.content.flatMap(toToolPart), ...options };
  }
}

type UserPart = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>[number];
type AssistantPart = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>[number];
type ToolPart = Extract<ModelMessage, { role: 'tool' }>['content'][number];
type PromptPart<Role extends LanguageModelV4Message['role']> = Extract<
  LanguageModelV4Message,
  { role: Role; content: unknown[] }
>['content'][number];

function partsOf<One>(content: string | readonly One[]): readonly (One | { type: 'text'; text: string })[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function toUserPart(part: UserPart | { type: 'text'; text: string }): PromptPart<'user'> {
  if (part.type === 'text') return { type: 'text', text: part.text, ...optionsIn(part) };
  if (part.type === 'image') {
    return { type: 'file', mediaType: part.mediaType ?? 'image', data: fileData(part.image), ...optionsIn(part) };
  }
  return toFilePart(part);
}

function toFilePart(part: Extract<UserPart | AssistantPart, { type: 'file' }>): LanguageModelV4FilePart {
  const { mediaType, filename, data } = part;
  const name = filename === undefined ? {} : { filename };
  return { type: 'file', mediaType, ...name, data: fileData(data), ...optionsIn(part) };
}

function toAssistantPart(part: AssistantPart | { type: 'text'; text: string }): readonly PromptPart<'assistant'>[] {
  switch (part.type) {
    case 'text': {
      const options = optionsIn(part);
      return part.text === '' && !options.providerOptions ? [] : [{ type: 'text', text: part.text, ...options }];
    }
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...optionsIn(part) }];
    case 'custom':
      return [{ type: 'custom', kind: part.kind, ...optionsIn(part) }];
    case 'file':
      return [toFilePart(part)];
    case 'reasoning-file':
      return [{
        type: 'reasoning-file',
        mediaType: part.mediaType,
        data: inlineData(fileData(part.data)),
        ...optionsIn(part),
      }];
    case 'tool-call': {
      const { toolCallId, toolName, input, providerExecuted } = part;
      const executed = providerExecuted === undefined ? {} : { providerExecuted };
      return [{ type: 'tool-call', toolCallId, toolName, input, ...executed, ...optionsIn(part) }];
    }
    case 'tool-result':
      return [toResultPart(part)];
    default:
      return []; // an approval of a run is never history
  }
}

/** Decisions of people go back only for calls that the provider executes. */
function toToolPart(part: ToolPart): readonly PromptPart<'tool'>[] {
  if (part.type === 'tool-result') return [toResultPart(part)];
  if (part.providerExecuted !== true) return [];
  const { approvalId, approved, reason } = part;
  return [{ type: 'tool-approval-response', approvalId, approved, ...(reason !== undefined && { reason }) }];
}

function toResultPart(part: Extract<AssistantPart | ToolPart, { type: 'tool-result' }>): LanguageModelV4ToolResultPart {
  const { toolCallId, toolName, output } = part;
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    output: output as LanguageModelV4ToolResultOutput, // safe: the same in both; `loadFiles` alone makes content
    ...optionsIn(part),
  };
}

type FileData = LanguageModelV4FilePart['data'];

/** Files are inline: `loadFiles` has loaded those that are not. */
function fileData(data: unknown): FileData {
  if (data instanceof Uint8Array) return { type: 'data', data };
  if (data instanceof ArrayBuffer) return { type: 'data', data: new Uint8Array(data) };
  if (typeof data === 'string') return { type: 'data', data: base64Of(data) };
  if (data instanceof URL) return fileData(data.href);
  if (isRecord(data) && (data['type'] === 'data' || data['type'] === 'url')) return fileData(data[data['type']]);
  throw refused('a file that is not inline');
}

function inlineData(data: FileData): Extract<FileData, { type: 'data' }> {
  if (data.type === 'data') return data;
  throw refused('a file that is not inline');
}

/** The content of a data URL, or of plain base64. */
function base64Of(text: string): string {
  if (/^data:/i.test(text)) return text.slice(text.indexOf(',') + 1);
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) throw refused('a file that is not inline');
  return text;
}

function refused(what: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot call the model with ${what}`, {
    details: { reason: 'invalid_messages' },
  });
}

type Options = NonNullable<LanguageModelV4Message['providerOptions']>;

function optionsIn(part: object): { readonly providerOptions?: Options } {
  return 'providerOptions' in part ? optionsOf(part.providerOptions as Options | undefined) : {}; // of the same type in both
}

function optionsOf(providerOptions: Options | undefined): { readonly providerOptions?: Options } {
  return providerOptions === undefined ? {} : { providerOptions };
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly providerExecuted?: boolean | undefined;
  readonly providerOptions?: unknown;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/**
 * Removes the parts of another provider in place: reasoning, custom parts, calls that the provider executed with their results and
 * approvals, and all metadata of answers. Another provider, or another account of the same one, refuses them.
 */
export function leaveProvider(messages: Message[]): void {
  const executed = new Set<string | undefined>();
  const portable = messages.flatMap((message) => {
    const { role, content } = message;
    if ((role !== 'assistant' && role !== 'tool') || !Array.isArray(content)) return [message];
    const parts: readonly Part[] = content; // of messages of the AI SDK, by their roles
    for (const { providerExecuted, toolCallId } of parts) if (providerExecuted === true) executed.add(toolCallId);
    const rest = parts.filter((part) => isPortable(part, executed)).map(withoutProvider);
    return rest.length === 0 ? [] : [withOrigin({ role, content: rest }, originOf(message))];
  });
  messages.splice(0, messages.length, ...portable);
}

/** The id of a call stays, marked as that of another provider: `fitHistory` writes it as the next one takes it. */
function withoutProvider({ providerOptions: _, ...part }: Part): Part {
  return part.toolCallId === undefined ? part : { ...part, providerOptions: foreignCall };
}

function isPortable({ type, text, toolCallId }: Part, executed: ReadonlySet<string | undefined>): boolean {
  switch (type) {
    case 'text':
      return text !== ''; // an empty one had only metadata
    case 'file':
      return true;
    case 'tool-call':
    case 'tool-result':
      return !executed.has(toolCallId);
    default:
      return false;
  }
}

/** A chat's messages as a model takes them. */

import type { JSONValue, ModelMessage, UIMessage } from '../contracts/ai-types.ts';
import { PinnaceError } from '../base/errors.ts';
import { foreignCall } from './call-ids.ts';
import type { RunRequest } from './run-request.ts';
import {
  contextMessages,
  contextOf,
  type ContextPart,
  ephemeralMessages,
  type TurnContext,
  withContextParts,
} from './turn-context.ts';
import {
  isPinned,
  isWaitingProgram,
  newestCompaction,
  originOf,
  summaryMessage,
  uncovered,
  withOrigin,
  withoutInnerCalls,
} from './message-parts.ts';
import type { IssuedMetadata } from './issued-metadata.ts';
import { wellFormed } from '../base/text.ts';
import * as v from 'valibot';
import { asRecord } from '../base/is-record.ts';
import { blobIdOf, resourceOf } from './message-files.ts';
import { readEdited, withEditLines } from '../tools/edited-calls.ts';
import { readStall, withStallLine } from './stalls.ts';
import { mediaOf } from '../tools/content.ts';

/**
 * Converts the chat's messages to the model's: those that its newest compaction covers as their summary. `issued` returns the parts of
 * answers their provider metadata.
 *
 * @throws PinnaceError `invalid_argument` when a message is not what the AI SDK sends, or sends a file otherwise than inline.
 */
export function toModelMessages(messages: readonly UIMessage[], issued?: IssuedMetadata): ModelMessage[] {
  const compaction = newestCompaction(messages);
  const { throughMessageId = '', summary } = compaction ?? {};
  const converted: ModelMessage[] = summary === undefined ? [] : [summaryMessage({ throughMessageId, summary })];
  for (const message of toHistory(uncovered(messages), issued)) {
    const { id, role, parts } = message;
    const origin = { id, kind: role === 'user' ? 'user' : 'assistant', isPinned: isPinned(message) } as const;
    if (role === 'assistant') addContext(converted, leadingContext(parts));
    for (const one of convertMessage(message)) converted.push(originOf(one) ? one : withOrigin(one, origin));
  }
  return converted;
}

/** Converts the chat of a request, with what its answer is given besides. */
export function modelMessages(
  { chat: { messages }, context }: Pick<RunRequest, 'chat' | 'context'>,
  contexts: readonly ContextPart[],
  issued?: IssuedMetadata,
): ModelMessage[] {
  return [...toModelMessages(withContextParts(messages, contexts), issued), ...ephemeralMessages(context)];
}

/** The contexts before what an answer says. */
function leadingContext(parts: UIMessage['parts']): readonly TurnContext[] {
  const first = parts.findIndex(({ type }) => !type.startsWith('data-'));
  return contextOf(first < 0 ? parts : parts.slice(0, first));
}

/** Adds the context of an answer around the message that it answers. */
function addContext(converted: ModelMessage[], contexts: readonly TurnContext[]): void {
  if (contexts.length === 0) return;
  const { before, behind } = contextMessages(contexts);
  const isAnswered = originOf(converted.at(-1) ?? {})?.kind === 'user';
  converted.splice(isAnswered ? converted.length - 1 : converted.length, 0, ...before);
  converted.push(...behind);
}

function convertMessage({ id, role, parts: given }: UIMessage): ModelMessage[] {
  const parts = given.map((part) => readPart(part) ?? refuse(part, id));
  if (role === 'assistant') return convertAnswer(parts);
  const content = parts.flatMap((part) => part.kind === 'content' ? [part.part] : []);
  if (role === 'user') return [{ role, content: content.flatMap(toUserPart) }];
  const texts = content.flatMap((part) => part.type === 'text' ? [part] : []);
  const options = Object.assign({}, ...texts.map(({ providerMetadata }) => providerMetadata)) as Options; // of the checked fields
  const text = texts.map((part) => part.text).join('');
  return [{ role: 'system', content: text, ...(Object.keys(options).length > 0 && { providerOptions: options }) }];
}

type AnswerContent = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>;
type UserContent = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>;
type ToolContent = Extract<ModelMessage, { role: 'tool' }>['content'];
type Options = NonNullable<ModelMessage['providerOptions']>;

/** An answer becomes a message for each of its steps, and behind it one with the results of the step's calls. */
function convertAnswer(parts: readonly HistoryPart[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let content: AnswerContent = [];
  let results: ToolContent = [];
  /** Of calls that the provider makes once they are approved: its next step begins with them. */
  const later: AnswerContent = [];
  const endStep = (): void => {
    if (content.length > 0) messages.push({ role: 'assistant', content });
    if (results.length > 0) messages.push({ role: 'tool', content: results });
    [content, results] = [[], []];
  };
  let isForeign = false;
  let isLeading = true;
  for (const one of parts) {
    isLeading &&= one.kind === 'data';
    if (one.kind === 'data') {
      if (one.context && !isLeading) {
        endStep();
        const { before, behind } = contextMessages([one.context]);
        messages.push(...before, ...behind);
      }
      if (one.type === 'data-model') isForeign = true; // a fallback answers until the run ends
      if (one.type === 'data-run') isForeign = false;
      const { stall, edited } = one;
      if (stall) results = withLine(results, stall, (output) => withStallLine(output, stall.times));
      if (edited) results = withLine(results, edited, (output) => withEditLines(output, edited.edits));
    } else if (one.kind === 'call') {
      const part = isForeign ? { ...one.part, callProviderMetadata: foreignCall } : one.part;
      const answer = answerToProvider(part);
      if (answer) {
        const [call, ...result] = callContent(part);
        if (call) content.push(call);
        results.push(answer);
        if (answer.approved && part.state !== 'approval-responded') later.push(...result);
      } else {
        content.push(...callContent(part));
        if (part.providerExecuted !== true) results.push(toResult(part, part.callProviderMetadata));
      }
    } else if (one.part.type === 'step-start') {
      endStep();
      content.push(...later.splice(0));
    } else if (one.part.type === 'steering-message') {
      endStep();
      messages.push({ role: 'user', content: one.part.parts.flatMap(toUserPart) });
    } else content.push(...answerContent(one.part));
  }
  endStep();
  if (later.length > 0) messages.push({ role: 'assistant', content: later });
  return messages;
}

/** What a provider is answered that has asked about the call. */
function answerToProvider(
  { providerExecuted, callProviderMetadata, approval }: CallPart,
): Extract<ToolContent[number], { type: 'tool-approval-response' }> | undefined {
  const approvalId = callProviderMetadata?.['openai']?.['approvalRequestId'];
  if (providerExecuted !== true || typeof approvalId !== 'string' || !approval) return undefined;
  const { approved, reason } = approval;
  return {
    type: 'tool-approval-response',
    approvalId,
    approved,
    ...(reason !== undefined && { reason }),
    providerExecuted,
  };
}

function toUserPart(part: FixedPart): UserContent {
  if (part.type !== 'text' && part.type !== 'file') return [];
  return [part.type === 'text' ? { type: 'text', text: part.text, ...optionsOf(part.providerMetadata) } : toFile(part)];
}

function answerContent(part: FixedPart): AnswerContent {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, ...optionsOf(part.providerMetadata) }];
    case 'custom':
      return [{ type: 'custom', kind: part.kind as `${string}.${string}`, ...optionsOf(part.providerMetadata) }]; // its provider's
    case 'file':
      return [toFile(part)];
    case 'reasoning-file': {
      const { type, mediaType, url, providerMetadata } = part;
      return [{ type, mediaType, data: url, ...optionsOf(providerMetadata) }];
    }
    default:
      return []; // sources are for readers
  }
}

function toFile({ mediaType, filename, url, providerMetadata }: Extract<FixedPart, { type: 'file' }>) {
  const name = filename === undefined ? {} : { filename };
  return { type: 'file' as const, mediaType, ...name, data: url, ...optionsOf(providerMetadata) };
}

function callContent(part: CallPart): AnswerContent {
  const { toolCallId, toolName, rawInput, input = rawInput, providerExecuted } = part;
  const { callProviderMetadata, resultProviderMetadata } = part;
  const isError = part.state === 'output-error';
  const ofCall = callProviderMetadata ?? (isError ? resultProviderMetadata : undefined);
  const executed = providerExecuted === undefined ? {} : { providerExecuted };
  const call = { type: 'tool-call' as const, toolCallId, toolName, input, ...executed, ...optionsOf(ofCall) };
  if (providerExecuted !== true) return [call];
  return [call, toResult(part, resultProviderMetadata ?? callProviderMetadata)];
}

function toResult(
  part: CallPart,
  metadata: CallPart['callProviderMetadata'],
): ToolContent[number] & AnswerContent[number] {
  const { toolCallId, toolName } = part;
  return { type: 'tool-result', toolCallId, toolName, output: outputOf(part), ...optionsOf(metadata) };
}

type ToolResult = Extract<ToolContent[number], { type: 'tool-result' }>;

/** Adds a line to the result of a call. Files become content later; there the line is missing. */
function withLine(
  results: ToolContent,
  { toolCallId }: { readonly toolCallId: string },
  add: (output: Exclude<ToolResult['output'], { type: 'content' }>) => ToolResult['output'],
): ToolContent {
  return results.map((result) => {
    if (result.type !== 'tool-result' || result.toolCallId !== toolCallId) return result;
    const { output } = result;
    const hasFiles = output.type === 'json' && mediaOf(output.value).length > 0;
    return hasFiles || output.type === 'content' ? result : { ...result, output: add(output) };
  });
}

type HistoryEdits = ReturnType<typeof readEdited>;

function outputOf(part: CallPart) {
  if (part.state === 'output-error') {
    const value = part.errorText || 'The call failed'; // Anthropic refuses an error without words
    return { type: part.providerExecuted === true ? 'error-json' as const : 'error-text' as const, value };
  }
  if (typeof part.output === 'string') return { type: 'text' as const, value: part.output };
  return { type: 'json' as const, value: (part.output ?? null) as JSONValue }; // it came as JSON
}

function optionsOf(metadata: unknown): { readonly providerOptions?: Options } {
  return metadata === undefined ? {} : { providerOptions: metadata as Options }; // checked with its part, and issued by the provider
}

function refuse(part: Part, messageId: string): never {
  const what = problemOfPart(part) ?? 'type';
  const why = what === 'type' ? 'parts of your own are "data-<name>"' : `it needs ${what}`;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot read the run request: a part ${JSON.stringify(part.type)} of message ${
      JSON.stringify(messageId)
    } is not as the AI SDK sends it; ${why}`,
    { details: { reason: 'invalid_messages', messageId, type: part.type } },
  );
}

type Part = UIMessage['parts'][number];

/**
 * Returns the messages as history. They are never decisions: a call that waits for a person was not made. A call whose result never
 * reached the client is shown with an unknown outcome, so that the model does not make it again unaware. Messages never speak to the
 * provider either: its metadata comes from `issued` alone.
 *
 * @throws PinnaceError `invalid_argument` for a file that is neither a data URL in base64, an https URL, a stored file nor a resource of an MCP server.
 */
function toHistory(messages: readonly UIMessage[], issued?: IssuedMetadata): UIMessage[] {
  requireReadableFiles(messages.flatMap(({ parts }) => parts));
  return messages.map((message) => {
    const parts = withoutInnerCalls(message).flatMap(toHistoryPart).map((part) => {
      const said = wellFormed(withoutProviderFields(part)); // an answer that an earlier version has stored may be cut
      const fields = issued?.take(said, message.id);
      return isOurEnd(fields) ? said : { ...said, ...fields };
    });
    return { ...message, parts };
  }).filter(({ parts }) => parts.length > 0);
}

/**
 * Whether a call that its provider has asked about has ended without it: no person has decided on it, or its result never arrived. Then it
 * goes back as a call of ours, with our words.
 */
function isOurEnd(fields: Readonly<Record<string, unknown>> = {}): boolean {
  const { callProviderMetadata, approval, resultProviderMetadata, state } = fields;
  if (asRecord(asRecord(callProviderMetadata)['openai'])['approvalRequestId'] === undefined) return false;
  const { approved } = asRecord(approval);
  return approved === undefined || (approved === true && !resultProviderMetadata && state === undefined);
}

/**
 * Rejects addresses that no run loads, and data that is not base64: as such a text, the id of a file in the provider's account would
 * pass for a file. Files by https are loaded through the egress, stored ones from the tenant's files.
 */
function requireReadableFiles(parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.type === 'steering-message') requireReadableFiles(part.parts);
    if (part.type !== 'file' && part.type !== 'reasoning-file') continue;
    if (typeof part.url !== 'string' || blobIdOf(part.url) !== undefined) continue; // its type is checked with its part
    if (part.type === 'file' && (/^https:/i.test(part.url) || resourceOf(part.url))) continue;
    if (!/^data:/i.test(part.url)) {
      throw refused(
        'Cannot read a file by this address: send its content as a data URL, an https URL, the id of a stored file or of a resource',
        'file_by_address',
      );
    }
    if (!/^data:[^,]*;base64,[A-Za-z0-9+/]*={0,2}$/i.test(part.url)) {
      throw refused('Cannot read a file: send its content as a data URL in base64', 'file_not_base64');
    }
  }
}

function refused(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}

/**
 * What of a part keeps a run from reading it: `type` for a part that no AI SDK client sends, or what it should have; `undefined` for one
 * that a run can read.
 */
export function problemOfPart(part: unknown): string | undefined {
  const { type, state } = asRecord(part);
  if (typeof type !== 'string') return 'type';
  if (!isCallType(type)) {
    if (!readPart(part)) return fieldsOf.get(type) ?? 'type';
    return problemOfFile(part as Part); // as just read
  }
  if (typeof state !== 'string' || !states.has(state)) return type === 'tool-invocation' ? 'type' : callFields;
  const ended = toHistoryPart(part as Part); // its state is known, and each field is checked with the part
  return ended.every((one) => readPart(one)) ? undefined : callFields;
}

const callFields = '"toolCallId", a "state" of the AI SDK, and "toolName" of a "dynamic-tool"';
const states: ReadonlySet<string> = new Set(
  'input-streaming input-available output-available output-error approval-requested approval-responded output-denied'
    .split(' '),
);

/** What parts of known types have, where they are refused. */
const fieldsOf: ReadonlyMap<string, string> = new Map([
  ['text', 'its "text"'],
  ['reasoning', 'its "text"'],
  ['file', 'its "mediaType" and "url"'],
  ['reasoning-file', 'its "mediaType" and "url"'],
  ['source-url', 'its "sourceId" and "url"'],
  ['source-document', 'its "sourceId", "mediaType" and "title"'],
  ['custom', 'its "kind"'],
]);

function problemOfFile(part: Part): string | undefined {
  try {
    requireReadableFiles([part]);
    return undefined;
  } catch {
    return 'a "url" of a file that is a data URL in base64, or starts with "https:" or "pinnace-blob:"';
  }
}

function isCallType(type: string): boolean {
  return type.startsWith('tool-') || type === 'dynamic-tool';
}

function toHistoryPart(part: Part): readonly Part[] {
  if (!isCallType(part.type)) return [part];
  if (!('state' in part) || part.state === undefined || !states.has(part.state)) return [part]; // it is refused where it is read
  if (('preliminary' in part && part.preliminary) || isWaitingProgram(part)) return [withUnknownOutcome(part)];
  if (part.state === 'output-available' || part.state === 'output-error') return [part];
  const { approved, reason }: { readonly approved?: unknown; readonly reason?: unknown } = // the client's, and not checked yet
    'approval' in part ? part.approval ?? {} : {};
  switch (part.state) {
    case 'output-denied':
      return [withError(part, denied(reason))];
    case 'approval-requested':
      return [withError(part, leftWaiting)];
    case 'approval-responded':
      return [approved === true ? withUnknownOutcome(part) : withError(part, denied(reason))];
    case 'input-available': // the client may have left before its end
      return [withUnknownOutcome(part)];
    default:
      return []; // its input never became complete
  }
}

/** What a model receives of a call that a person denied. */
export function denied(reason: unknown): string {
  const why = typeof reason === 'string' ? `: ${reason}` : '';
  return `The call was not made: a person denied it${why}`;
}

/** What a model receives of a call that waited for a person, who wrote the next message instead. */
export const leftWaiting =
  'The call was not made: it waited for the approval of a person, and the chat went on without it';

/** The part as a call that has ended with an error. */
export function withError(part: Part, errorText: string): Part {
  const { output: _, preliminary: __, ...call } = part as Part & { output?: unknown; preliminary?: unknown };
  return { ...call, state: 'output-error', errorText } as Part; // ended now; checked with all others
}

/** What a model receives of a call that may have been made. */
export const unknownOutcome =
  'The outcome of this call is unknown: its result never arrived. It may have taken effect; check before calling it again';

function withUnknownOutcome(part: Part): Part {
  return withError(part, unknownOutcome);
}

/**
 * Metadata, options, references and calls of the provider's own may all name items of the account that every tenant shares. The
 * decision on a call that has ended is in its output.
 */
function withoutProviderFields(part: Part): Part {
  const fields = Object.entries(part).filter(([name]) => !/provider/i.test(name) && name !== 'approval');
  const rest = Object.fromEntries(fields) as Part; // all of these fields are optional
  return rest.type === 'steering-message' ? { ...rest, parts: rest.parts.map(withoutProviderFields) as never } : rest;
}

const metadata = v.optional(v.record(v.string(), v.record(v.string(), v.unknown())));
const facts = { providerMetadata: metadata };

const TextPart = v.looseObject({ type: v.literal('text'), text: v.string(), ...facts });
const FilePart = v.looseObject({
  type: v.literal('file'),
  mediaType: v.string(),
  url: v.string(),
  filename: v.optional(v.string()),
  ...facts,
});

const fixed = [
  TextPart,
  FilePart,
  v.looseObject({ type: v.literal('reasoning'), text: v.string(), ...facts }),
  v.looseObject({ type: v.literal('reasoning-file'), mediaType: v.string(), url: v.string(), ...facts }),
  v.looseObject({ type: v.literal('custom'), kind: v.string(), ...facts }),
  v.looseObject({ type: v.literal('source-url'), sourceId: v.string(), url: v.string() }),
  v.looseObject({
    type: v.literal('source-document'),
    sourceId: v.string(),
    mediaType: v.string(),
    title: v.string(),
  }),
  v.looseObject({
    type: v.literal('steering-message'),
    id: v.string(),
    parts: v.array(v.variant('type', [TextPart, FilePart])),
  }),
  v.looseObject({ type: v.literal('step-start') }),
] as const;

const FixedPart = v.variant('type', [...fixed]);
type FixedPart = v.InferOutput<typeof FixedPart>;

const call = {
  toolCallId: v.string(),
  input: v.optional(v.unknown()),
  /** The AI SDK stores an input here that was not valid. */
  rawInput: v.optional(v.unknown()),
  providerExecuted: v.optional(v.boolean()),
  callProviderMetadata: metadata,
  resultProviderMetadata: metadata,
  /** Of a call that its provider has asked about: as it was decided here. */
  approval: v.optional(v.object({ approved: v.boolean(), reason: v.optional(v.string()) })),
};

/** A tool call that has ended; `toHistory` leaves out every other one. */
const CallPart = v.variant('state', [
  v.looseObject({ type: v.string(), ...call, state: v.literal('output-available'), output: v.optional(v.unknown()) }),
  v.looseObject({ type: v.string(), ...call, state: v.literal('output-error'), errorText: v.nullish(v.string(), '') }),
  v.looseObject({ type: v.string(), ...call, state: v.literal('approval-responded') }),
]);
type CallPart = v.InferOutput<typeof CallPart> & { readonly toolName: string };

/** A part as the model's history needs it. */
type HistoryPart =
  | { readonly kind: 'content'; readonly part: FixedPart }
  | { readonly kind: 'call'; readonly part: CallPart }
  | {
    readonly kind: 'data';
    readonly type: string;
    readonly context: TurnContext | undefined;
    readonly stall: HistoryStall;
    readonly edited: HistoryEdits;
  };

type HistoryStall = ReturnType<typeof readStall>;

/** Most parts of a long chat: a schema would take a tenth of its run to say it. */
function isPlainText(given: unknown): given is v.InferOutput<typeof TextPart> {
  const { type, text, providerMetadata } = asRecord(given);
  return type === 'text' && typeof text === 'string' && providerMetadata === undefined;
}

/** Reads a part of a client's message; `undefined` for a part that no AI SDK client sends. */
function readPart(given: unknown): HistoryPart | undefined {
  const type: unknown = typeof given === 'object' && given !== null && 'type' in given ? given.type : undefined;
  if (typeof type !== 'string') return undefined;
  if (type.startsWith('data-')) {
    const [context] = contextOf([given as UIMessage['parts'][number]]); // it reads what has the form
    const stall = type === 'data-stall' ? readStall(asRecord(given)['data']) : undefined;
    const edited = type === 'data-edited-call' ? readEdited(asRecord(given)['data']) : undefined;
    return { kind: 'data', type, context, stall, edited };
  }
  if (!isCallType(type)) {
    if (isPlainText(given)) return { kind: 'content', part: given };
    const part = v.safeParse(FixedPart, given);
    return part.success ? { kind: 'content', part: part.output } : undefined;
  }
  const part = v.safeParse(CallPart, given);
  if (!part.success) return undefined;
  const toolName = type === 'dynamic-tool' ? part.output['toolName'] : type.slice('tool-'.length);
  return typeof toolName === 'string' ? { kind: 'call', part: { ...part.output, toolName } } : undefined;
}

/** What a model says in one step: as chunks for readers, and as the message that its next call returns to it. */

import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { toBase64 } from '../base/base64.ts';
import type { JSONValue, UIMessageChunk } from '../contracts/ai-types.ts';
import { PinnaceError } from '../base/errors.ts';
import { wellFormed, WholeTexts } from '../base/text.ts';
import { type CallIds, StepCallIds } from './call-ids.ts';
import { notOf } from '../tools/availability.ts';
import { cut, reportedError, toStreamError } from './model-error.ts';
import { toolCallName } from '../discovery/discovery-tools.ts';
import { askedOptions } from './issued-metadata.ts';
import { unwrapCall, WrappedInput } from './wrapped-calls.ts';
import {
  callChunk,
  calledName,
  fileChunk,
  inputStartChunk,
  metadataOf,
  parseCall,
  type ParsedCall,
  resultChunk,
  sourceChunk,
  type StreamPart,
} from './model-stream.ts';

type Content = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type Block = Extract<Content[number], { type: 'text' | 'reasoning' }>;

/** A complete answer of a model. */
export interface Answer<Tool> {
  readonly finishReason: LanguageModelV4FinishReason['unified'];
  readonly usage: LanguageModelV4Usage;
  /** With reasoning and metadata: without them reasoning models refuse the next call. */
  readonly message: LanguageModelV4Message;
  /** The requested tool calls, without those that the provider executes and does not ask about. */
  readonly calls: readonly ParsedCall<Tool>[];
  /** The provider goes on in a later step: it has paused, or its own tools have no result yet. */
  readonly isDeferred: boolean;
  readonly text: string;
}

/** The content of a step, as it arrives. */
interface StepContent<Tool> {
  /** Adds parts, and returns the chunks of those before an error that the model reports; `requireSound` throws that error. */
  take(parts: readonly LanguageModelV4StreamPart[]): UIMessageChunk[];
  /** @throws PinnaceError for an error that the model reported, and for a stream out of order. */
  requireSound(): void;
  /** @throws PinnaceError `unavailable` when the answer has no end, or its end says that it was cut. */
  end(): Answer<Tool>;
}

/** What the content of a step is read with. */
interface StepContentOptions<Tool> {
  /** Numbers the step, so that ids that repeat in it become unique. */
  readonly step: number;
  /** The ids of blocks that the run has shown before. */
  readonly shownIds: Set<string>;
  /** The ids of the calls of the chat. */
  readonly callIds: CallIds;
  readonly find: (name: string) => Tool | undefined;
  readonly missing: (name: string) => PinnaceError;
  /** Returns the input of a call as it is meant; `text` is what the model has written. */
  readonly meant: (tool: Tool, input: unknown, text: string) => unknown;
  /** The calls that the provider may make now, because a person has approved them. */
  readonly approved?: ReadonlySet<string>;
  /** Finds the tool by which a call is judged that the provider asks about. */
  readonly findAsked?: (name: string) => Tool | undefined;
  /** Whether calls of `tool_call` are calls of the tool that they name. */
  readonly isWrapping?: boolean;
  /** Returns what else is shown of a call that cannot be made. */
  readonly onInvalid?: (call: ParsedCall<Tool>, error: PinnaceError) => readonly UIMessageChunk[];
}

/** Creates the empty content of a step. */
export function createStepContent<Tool>(options: StepContentOptions<Tool>): StepContent<Tool> {
  return new Step(options);
}

class Step<Tool> implements StepContent<Tool> {
  readonly #options: StepContentOptions<Tool>;
  readonly #content: Content = [];
  readonly #open = new Map<string, { readonly id: string; readonly block: Block }>();
  readonly #calls: ParsedCall<Tool>[] = [];
  readonly #callIds: StepCallIds;
  readonly #deferred = new Map<string, ParsedCall<Tool> | undefined>();
  readonly #texts = new WholeTexts();
  readonly #wrapped = new Map<string, WrappedInput>();
  #blocks = 0;
  #text = '';
  #finish: StreamPart<'finish'> | undefined;
  #failure: unknown;

  constructor(options: StepContentOptions<Tool>) {
    this.#options = options;
    this.#callIds = new StepCallIds(options.callIds);
  }

  take(parts: readonly LanguageModelV4StreamPart[]): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    try {
      for (const part of parts) {
        if (part.type === 'text-delta' && part.providerMetadata === undefined) this.#extendText(part, chunks);
        else chunks.push(...this.#takeOne(part));
      }
    } catch (error) {
      this.#failure = error;
    }
    return chunks;
  }

  requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  end(): Answer<Tool> {
    const finish = this.#finish;
    if (!finish) throw cut();
    const { raw } = finish.finishReason;
    const unified = endOf(finish.finishReason);
    const isLost = unified === 'tool-calls' && this.#callIds.hasOpen; // a call began and never arrived
    if (isLost || unified === 'interrupted' || (unified === 'other' && raw === undefined)) throw cut();
    if (unified === 'error') throw reportedError();
    const content = this.#content.filter((part) => part.type !== 'text' || part.text !== '' || part.providerOptions);
    return {
      finishReason: unified,
      usage: finish.usage,
      message: { role: 'assistant', content },
      calls: this.#calls,
      isDeferred: this.#deferred.size > 0 || (raw === 'pause_turn' && content.length > 0),
      text: this.#text,
    };
  }

  #takeOne(part: LanguageModelV4StreamPart): readonly UIMessageChunk[] {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return [this.#start(part)];
      case 'text-delta':
      case 'reasoning-delta':
        return this.#extend(part);
      case 'text-end':
      case 'reasoning-end':
        return this.#close(part);
      case 'tool-input-start': {
        const named = this.#named(part);
        if (!this.#isWrapper(named)) return [this.#startInput(named)];
        this.#wrapped.set(part.id, new WrappedInput(named)); // until the name of the inner tool is read
        return [];
      }
      case 'tool-input-delta':
        return this.#wrapped.has(part.id)
          ? this.#unwrap(part)
          : this.#extendInput(part.id, (toolCallId) => this.#texts.next(toolCallId, part.delta));
      case 'tool-input-end':
        if (this.#wrapped.get(part.id)?.isStarted === false) return [];
        return this.#extendInput(part.id, (toolCallId) => this.#texts.end(toolCallId)).filter(hasText);
      case 'tool-call': {
        this.#wrapped.delete(part.toolCallId);
        const named = this.#named(part);
        return this.#call(this.#isWrapper(named) ? this.#named(unwrapCall(named)) : named);
      }
      case 'tool-result':
        return [this.#result(part)];
      case 'tool-approval-request':
        this.#ask(part);
        return [];
      case 'file':
      case 'reasoning-file':
        return [this.#file(part)];
      case 'source':
        return [sourceChunk(wellFormed(part))];
      case 'custom': {
        const { kind, providerMetadata } = part;
        this.#content.push({ type: 'custom', kind, ...optionsOf(providerMetadata) });
        return [{ type: 'custom', kind, ...metadataOf(providerMetadata) }];
      }
      case 'stream-start':
        requireDeclared(part);
        return [];
      case 'finish':
        this.#finish ??= part;
        return [];
      case 'error':
        throw toStreamError(part.error);
      default:
        return []; // says nothing that readers or the model need
    }
  }

  #start({ type, id, providerMetadata }: StreamPart<'text-start' | 'reasoning-start'>): UIMessageChunk {
    const { shownIds, step } = this.#options;
    const kind = kindOf(type);
    let shownId = id;
    while (shownIds.has(`${kind}:${shownId}`)) shownId = `${step}.${this.#blocks++}`;
    shownIds.add(`${kind}:${shownId}`);
    const block: Block = { type: kind, text: '', ...optionsOf(providerMetadata) };
    this.#open.set(keyOf({ type, id }), { id: shownId, block });
    this.#content.push(block);
    return { type, id: shownId, ...metadataOf(providerMetadata) };
  }

  /** As `#extend`, for what nearly all parts are. */
  #extendText(part: StreamPart<'text-delta'>, chunks: UIMessageChunk[]): void {
    const { id, block } = this.#opened(part);
    const delta = this.#texts.next(keyOf(part), part.delta);
    block.text += delta;
    this.#text += delta;
    if (delta !== '') chunks.push({ type: 'text-delta', id, delta });
  }

  #extend(part: StreamPart<'text-delta' | 'reasoning-delta'>): readonly UIMessageChunk[] {
    const { type, providerMetadata } = part;
    const { id, block } = this.#opened(part);
    const delta = this.#texts.next(keyOf(part), part.delta);
    block.text += delta;
    Object.assign(block, optionsOf(providerMetadata));
    if (type === 'text-delta') {
      this.#text += delta;
      if (delta === '' && providerMetadata === undefined) return [];
    }
    return [{ type, id, delta, ...metadataOf(providerMetadata) }];
  }

  #close(part: StreamPart<'text-end' | 'reasoning-end'>): readonly UIMessageChunk[] {
    const { id, block } = this.#opened(part);
    const key = keyOf(part);
    this.#open.delete(key);
    const rest = this.#texts.end(key);
    block.text += rest;
    if (block.type === 'text') this.#text += rest;
    Object.assign(block, optionsOf(part.providerMetadata));
    const metadata = metadataOf(part.providerMetadata);
    const citations = part.type === 'text-end' && part.citations ? { citations: part.citations } : {};
    const end: UIMessageChunk = { type: part.type, id, ...citations, ...metadata };
    return rest === '' ? [end] : [{ type: `${block.type}-delta`, id, delta: rest }, end];
  }

  #opened({ type, id }: { readonly type: string; readonly id: string }) {
    const opened = this.#open.get(keyOf({ type, id }));
    if (!opened) throw invalidAnswer();
    return opened;
  }

  #named<Call extends StreamPart<'tool-input-start' | 'tool-call'>>(part: Call): Call {
    const toolName = calledName(part.toolName, (name) => this.#options.find(name) !== undefined);
    return toolName === part.toolName || part.providerExecuted === true ? part : { ...part, toolName };
  }

  #isWrapper({ toolName, providerExecuted }: StreamPart<'tool-input-start' | 'tool-call'>): boolean {
    return this.#options.isWrapping === true && toolName === toolCallName && providerExecuted !== true;
  }

  #unwrap({ id, delta: given }: StreamPart<'tool-input-delta'>): readonly UIMessageChunk[] {
    const { start, delta } = this.#wrapped.get(id)?.take(given) ?? { delta: '' };
    const started = start ? [this.#startInput(this.#named(start))] : [];
    if (delta === '') return started;
    return [...started, ...this.#extendInput(id, (toolCallId) => this.#texts.next(toolCallId, delta)).filter(hasText)];
  }

  #startInput(part: StreamPart<'tool-input-start'>): UIMessageChunk {
    const id = this.#callIds.start(part.id, part.toolName);
    return inputStartChunk({ ...part, id }, this.#options.find(part.toolName) !== undefined);
  }

  #extendInput(given: string, take: (toolCallId: string) => string): StreamedInput[] {
    const toolCallId = this.#callIds.streaming(given);
    return [{ type: 'tool-input-delta', toolCallId, inputTextDelta: take(toolCallId) }];
  }

  #call(given: StreamPart<'tool-call'>): readonly UIMessageChunk[] {
    const { find, missing, meant, onInvalid } = this.#options;
    const part = wellFormed(given);
    if (this.#isApproved(part)) {
      this.#deferred.set(this.#callIds.settled(part.toolCallId), undefined);
      return []; // shown when it was approved
    }
    const isRepeated = this.#callIds.isRepeated(part.toolCallId, part.toolName, part.input);
    const ours = { ...part, toolCallId: this.#callIds.complete(part.toolCallId, part.toolName) };
    const call = parseCall(ours, { find, missing, meant, isRepeated });
    const { toolCallId, toolName, input, providerExecuted, providerMetadata, error } = call;
    this.#content.push({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: providerExecuted === true && error ? {} : input,
      ...(providerExecuted !== undefined && { providerExecuted }),
      ...optionsOf(providerMetadata),
    });
    if (providerExecuted === true) this.#deferred.set(toolCallId, call);
    else this.#calls.push(call);
    return error ? [callChunk(call), ...onInvalid?.(call, error) ?? []] : [callChunk(call)];
  }

  #isApproved({ toolCallId, providerExecuted }: Pick<StreamPart<'tool-call'>, 'toolCallId' | 'providerExecuted'>) {
    return providerExecuted === true && this.#options.approved?.has(this.#callIds.settled(toolCallId)) === true;
  }

  /** The provider wants a person to approve a call of this answer. */
  #ask(
    { toolCallId: given, approvalId: providerApprovalId, providerMetadata }: StreamPart<'tool-approval-request'>,
  ): void {
    const toolCallId = this.#callIds.settled(given);
    const call = this.#deferred.get(toolCallId);
    if (!call) throw invalidAnswer();
    const tool = call.error ? undefined : this.#options.findAsked?.(call.toolName);
    if (!tool) throw approvalOfProvider();
    this.#deferred.delete(toolCallId);
    this.#calls.push({ ...call, tool, providerApprovalId });
    const at = this.#content.findIndex((part) => part.type === 'tool-call' && part.toolCallId === toolCallId);
    const part = this.#content[at];
    if (part) this.#content[at] = { ...part, ...optionsOf(askedOptions(providerApprovalId, providerMetadata)) };
  }

  /** A result of the provider's own tool belongs to the assistant's message; only the last one counts. */
  #result(given: StreamPart<'tool-result'>): UIMessageChunk {
    const part = wellFormed(given);
    const { toolName, result, isError, preliminary, providerMetadata } = part;
    const toolCallId = this.#callIds.settled(part.toolCallId);
    const output: LanguageModelV4ToolResultOutput = isError === true
      ? { type: 'error-json', value: result as JSONValue } // JSON of the provider
      : typeof result === 'string'
      ? { type: 'text', value: result }
      : { type: 'json', value: result as JSONValue }; // JSON of the provider
    if (preliminary !== true) {
      this.#deferred.delete(toolCallId);
      const settled = { type: 'tool-result', toolCallId, toolName, output, ...optionsOf(providerMetadata) } as const;
      if (this.#options.approved?.has(toolCallId)) this.#content.unshift(settled); // as later turns have it
      else this.#content.push(settled);
    }
    return resultChunk({ ...part, toolCallId });
  }

  #file(part: StreamPart<'file' | 'reasoning-file'>): UIMessageChunk {
    const { type, mediaType, data, providerMetadata } = part;
    const inline = data.type === 'data' ? { type: 'data' as const, data: toBase64(data.data) } : data;
    this.#content.push({ type, mediaType, data: inline, ...optionsOf(providerMetadata) });
    return fileChunk(part);
  }
}

type StreamedInput = Extract<UIMessageChunk, { type: 'tool-input-delta' }>;

function hasText({ inputTextDelta }: StreamedInput): boolean {
  return inputTextDelta !== '';
}

function keyOf({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${kindOf(type)}:${id}`;
}

function kindOf(type: string): Block['type'] {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

/** The last metadata of a block replaces earlier ones. */
function optionsOf(
  metadata: SharedV4ProviderMetadata | undefined,
): { readonly providerOptions?: SharedV4ProviderMetadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

/** Packages leave out a tool of a provider that their model does not have, and say so in a warning. */
function requireDeclared({ warnings }: StreamPart<'stream-start'>): void {
  const refused = warnings.find((warning) =>
    warning.type === 'unsupported' && /^(?:provider-defined tool |tool type: provider)/.test(warning.feature)
  );
  if (refused?.type === 'unsupported') throw notOf(refused.feature.split(' ').at(-1) ?? '', 'The model');
}

/** The error for a provider that asks about a call of an unknown tool. */
function approvalOfProvider(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'The model endpoint asks for the approval of a tool that the agent does not have once: name one such tool in "entryTools", or configure it to need no approval',
    { retryable: false, details: { reason: 'provider_approval' } },
  );
}

type Unified = LanguageModelV4FinishReason['unified'];

/** What servers call ends by names of their own, which packages report as `other`. */
const namedEnds: readonly (readonly [RegExp, Unified])[] = [
  [/^(?:max_(?:output_|completion_)?tokens|(?:model|max|token|output)_(?:length|limit)|.*context_window.*)$/, 'length'],
  [/^(?:sensitive|safety|blocked?|blocklist|refusal|.*(?:content|safety)_?filter.*)$/, 'content-filter'],
  [
    /^(?:abort|cancel|time_?out|network|insufficient_|interrupt)|error$|^(?:malformed|unexpected|too_many)_|^missing_/,
    'error',
  ],
];

export function endOf({ unified, raw }: LanguageModelV4FinishReason): Unified {
  if (unified !== 'other' || raw === undefined) return unified;
  const name = raw.toLowerCase().replaceAll(/[\s.-]+/g, '_');
  return namedEnds.find(([pattern]) => pattern.test(name))?.[1] ?? unified;
}

/** The error for parts in an order that no model sends them in. */
function invalidAnswer(): PinnaceError {
  return new PinnaceError('unavailable', 'The model endpoint answered something else than a model does', {
    details: { reason: 'provider_invalid_response' },
  });
}

/** The error of an answer that ended before its calls could be made, or before it said anything. */
export function incomplete({ finishReason, calls }: Pick<Answer<unknown>, 'finishReason' | 'calls'>): PinnaceError {
  const lost = calls.length > 0 ? 'before its tool calls could be made' : 'before it said anything';
  const why = finishReason === 'length'
    ? 'it reached the limit of output tokens; raise "maxOutputTokens" or "outputTokens"'
    : finishReason === 'content-filter'
    ? 'the provider filtered it'
    : 'its end says that it is not complete';
  return new PinnaceError('budget_exceeded', `The model ended its answer ${lost}: ${why}`, {
    details: { reason: 'answer_incomplete' },
  });
}

/**
 * Whether the calls of an answer may be made: an answer that was filtered or became too long may lack parts of them. Servers have
 * names of their own for a regular end (`eos`, `end_turn`), which providers report as `other`.
 */
export function mayExecute(finishReason: string | undefined): boolean {
  return finishReason === 'tool-calls' || finishReason === 'stop' || finishReason === 'other';
}

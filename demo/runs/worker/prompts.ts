/** The prompts of the latest runs, as their models saw them: in the worker's memory, and nowhere else. */

import type { Secret } from '../../../src/base/secret.ts';
import type { LanguageModel } from '../../../src/contracts/ai-types.ts';
import type { SecretSource } from '../../../src/contracts/egress.ts';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import type { ModelSource } from '../../../src/contracts/model-source.ts';
import { createRunRedaction } from '../../../src/permission/redaction/run-redaction.ts';
import { adaptModel } from '../../../src/runtime/provider-model.ts';
import type { Prompt, PromptMessage, PromptPart } from '../../control/runs-control.ts';

/** Sees what models are called with. */
interface Prompts {
  /** Observes events to know which call is next: the runtime emits its event right before the call. */
  note(event: ObservedEvent): void;
  /** Returns the same models, with their calls observed. */
  models(source: ModelSource): ModelSource;
  /** Returns the same secrets, which no prompt then shows. */
  secrets(source: SecretSource): SecretSource;
  of(traceId: string): readonly Prompt[];
  forget(): void;
}

/** How much is held: prompts, and the length of all of them as JSON, in UTF-16 code units. */
const maxPrompts = 500;
const maxLength = 32_000_000;

interface Held {
  readonly traceId: string;
  prompt: Prompt;
  readonly length: number;
}

type ModelStreamPart = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer StreamPart>
  ? StreamPart
  : never;

/** Passes everything on, each error after `observe`. Some providers report an error in the middle of an answer. */
function observeErrors(observe: (error: unknown) => Promise<void>): TransformStream<ModelStreamPart, ModelStreamPart> {
  return new TransformStream({
    transform(part, controller) {
      if (part.type !== 'error') return controller.enqueue(part);
      return observe(part.error).then(() => controller.enqueue(part));
    },
  });
}

/** What reads the provider's words is fetched with the first error. */
async function saidIn(error: unknown): Promise<string | undefined> {
  try {
    return (await import('../../../adapters/models/provider-text.ts')).providerText(error);
  } catch {
    return undefined; // the error is reported without them
  }
}

export function createPrompts(): Prompts {
  const redaction = createRunRedaction();
  let held: Held[] = [];
  let length = 0;
  let emitted: ObservedEvent | undefined;

  function see(model: LanguageModel, options: CallOptions): Held | undefined {
    const { traceId, spanId } = emitted ?? {};
    emitted = undefined;
    if (traceId === undefined || spanId === undefined) return undefined;
    const prompt = redaction.data(promptOf(options, { spanId, model: model.modelId }));
    const added = { traceId, prompt, length: JSON.stringify(prompt).length };
    held.push(added);
    length += added.length;
    while (held.length > 1 && (held.length > maxPrompts || length > maxLength)) length -= held.shift()?.length ?? 0;
    return added;
  }

  function note(secret: Secret): Secret {
    redaction.add(secret);
    return secret;
  }

  return {
    note(event) {
      if (event.action === 'model.call' && event.status === 'pending') emitted = event;
    },
    models: (source) => ({
      model: (provider, secret) =>
        observedModel(adaptModel(source.model(provider, secret && note(secret))), {
          see,
          redact: (text) => redaction.text(text),
        }),
    }),
    secrets: (source) => ({ resolve: async (...args) => note(await source.resolve(...args)) }),
    of: (traceId) => held.filter((one) => one.traceId === traceId).map(({ prompt }) => prompt),
    forget() {
      held = [];
      length = 0;
    },
  };
}

interface Observer {
  readonly see: (model: LanguageModel, options: CallOptions) => Held | undefined;
  readonly redact: (text: string) => string;
}

/** The model, whose calls are seen, and what its provider says of a failure. */
function observedModel(model: LanguageModel, { see, redact }: Observer): LanguageModel {
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    doGenerate(options) {
      see(model, options);
      return model.doGenerate(options);
    },
    async doStream(options) {
      const call = see(model, options);
      const observe = async (error: unknown): Promise<void> => {
        const said = await saidIn(error);
        if (call && said !== undefined) call.prompt = { ...call.prompt, said: redact(said) };
      };
      try {
        const { stream, ...rest } = await model.doStream(options);
        return { ...rest, stream: stream.pipeThrough(observeErrors(observe)) };
      } catch (error) {
        await observe(error);
        throw error;
      }
    },
  };
}

/** What a model is called with, as data to look at. */
export type CallOptions = Parameters<LanguageModel['doStream']>[0];

type Message = CallOptions['prompt'][number];
type Part = Exclude<Message['content'], string>[number];

/** What is not worth looking at, or is shown elsewhere. */
const unshown = new Set(['prompt', 'tools', 'abortSignal', 'headers', 'includeRawChunks']);

/** Returns the prompt. Files are named, not held. */
export function promptOf(options: CallOptions, { spanId, model }: Pick<Prompt, 'spanId' | 'model'>): Prompt {
  const settings = Object.entries(options).filter(([name, value]) => !unshown.has(name) && value !== undefined);
  return {
    spanId,
    model,
    messages: options.prompt.map(toMessage),
    tools: (options.tools ?? []).map((tool) =>
      tool.type === 'function'
        ? { name: tool.name, description: tool.description ?? '', input: tool.inputSchema }
        : { name: tool.name, description: 'A tool of the provider', input: asJson(tool.args) }
    ),
    settings: Object.fromEntries(settings.map(([name, value]) => [name, asJson(value)])),
  };
}

function toMessage({ role, content }: Message): PromptMessage {
  return { role, parts: typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(toPart) };
}

function toPart(part: Part): PromptPart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text };
    case 'tool-call':
      return { type: 'call', tool: part.toolName, toolCallId: part.toolCallId, input: asJson(part.input) };
    case 'tool-result':
      return { type: 'result', tool: part.toolName, toolCallId: part.toolCallId, output: asJson(part.output) };
    case 'file':
      return { type: 'file', mediaType: part.mediaType };
    default:
      return { type: 'other', value: { type: part.type } };
  }
}

/** A copy, for what is handed to a model may be changed later. What JSON does not know is left out. */
function asJson(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
}

/** A model that is called with what its provider takes: history and tools in its form, and files of its kinds in their places. */

import type { Fallback, Provider } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { SpanContext } from '../events/span.ts';
import type { AnyLanguageModel, JSONValue, LanguageModel } from '../contracts/ai-types.ts';
import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { isRecord } from '../base/is-record.ts';
import { sha256Sync } from '../base/hash.ts';
import { wellFormed } from '../base/text.ts';
import { providerCallId } from './call-ids.ts';

/** Returns the model, to be called with any history. The code for files is loaded with the first file. */
export function withProviderRules(
  model: LanguageModelV4,
  provider: Pick<Provider, 'inputs' | 'toolContent'>,
): LanguageModelV4 {
  const rules = rulesFor(model);
  const { parameter } = rules;
  const stream = async (options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> =>
    parameter && options.tools?.some((tool) => hasOtherNames(tool, parameter))
      ? await (await loadTools()).streamWithNames(model, options, parameter)
      : await model.doStream(options);
  return new ModelThrough(model, {
    doGenerate: (options) => model.doGenerate({ ...options, prompt: fitted(options.prompt, rules) }),
    async doStream(options) {
      const history = fitted(options.prompt, rules);
      if (!hasFiles(history)) return await stream({ ...options, prompt: history });
      const { fitFiles, refusalOfFiles } = await import('./fit-files.ts');
      const prompt = fitFiles(history, provider);
      try {
        return await stream({ ...options, prompt });
      } catch (error) {
        throw refusalOfFiles(error, prompt) ?? error;
      }
    },
  });
}

const loadTools = /* @__PURE__ */ loadOnce(() => import('./fit-tools.ts'));

type OfferedTool = NonNullable<LanguageModelV4CallOptions['tools']>[number];

/** Whether the provider refuses the name of a parameter of the tool. */
function hasOtherNames(tool: OfferedTool, form: RegExp): boolean {
  return tool.type === 'function' && Object.keys(tool.inputSchema.properties ?? {}).some((name) => !form.test(name));
}

/** A model that is called through these. Made for each run: a literal with a getter would outlive it until a full collection. */
export class ModelThrough implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider: string;
  readonly modelId: string;
  readonly doGenerate: LanguageModelV4['doGenerate'];
  readonly doStream: LanguageModelV4['doStream'];
  readonly #model: Pick<LanguageModelV4, 'provider' | 'modelId' | 'supportedUrls'>;

  constructor(
    model: Pick<LanguageModelV4, 'provider' | 'modelId' | 'supportedUrls'>,
    { doGenerate, doStream }: Pick<LanguageModelV4, 'doGenerate' | 'doStream'>,
  ) {
    this.#model = model;
    this.provider = model.provider;
    this.modelId = model.modelId;
    this.doGenerate = doGenerate;
    this.doStream = doStream;
  }

  get supportedUrls(): LanguageModelV4['supportedUrls'] {
    return this.#model.supportedUrls;
  }
}

function hasFiles(prompt: LanguageModelV4Prompt): boolean {
  return prompt.some(({ role, content }) =>
    role !== 'system' &&
    content.some((part) => part.type === 'file' || (part.type === 'tool-result' && part.output.type === 'content'))
  );
}

const load = /* @__PURE__ */ loadOnce(() => import('./stream-older.ts'));

/**
 * Returns the model as one of specification v4.
 *
 * @throws PinnaceError `invalid_argument` with the reason `model_version` for anything else, such as the name of a model.
 */
export function adaptModel(model: AnyLanguageModel): LanguageModelV4 {
  const version: unknown = typeof model === 'object' ? model.specificationVersion : undefined;
  if (version === 'v4') return model as LanguageModelV4; // safe: just read
  if (version === 'v2' || version === 'v3') return adapted(model as LanguageModelV2 | LanguageModelV3); // safe: just read
  throw new PinnaceError(
    'invalid_argument',
    'Cannot use the model: pass a language model of the AI SDK (specification v2, v3 or v4), not its name',
    { details: { reason: 'model_version' } },
  );
}

function adapted(model: LanguageModelV2 | LanguageModelV3): LanguageModelV4 {
  const unsupported = (): never => {
    throw new PinnaceError('internal', 'Cannot call the model: only its stream is used');
  };
  return new ModelThrough(model, {
    doGenerate: unsupported,
    doStream: async (options) => await (await load()).streamOlder(model, options),
  });
}

/** What a provider accepts. */
interface ProviderRules {
  /** The ids of calls. */
  readonly callId: RegExp;
  /** The ids of calls that another provider has made; as `callId` when absent. */
  readonly foreignCallId?: RegExp;
  /** Whether an id may be used again in a later answer. */
  readonly mayRepeatIds: boolean;
  /** The names of tools that were called, which may be made up. */
  readonly toolName: RegExp;
  /** The names of parameters; any where absent. */
  readonly parameter?: RegExp;
  /** Whether a text may be nothing but white space. */
  readonly takesBlankTexts: boolean;
  /** Whether a chat may start with an answer. */
  readonly startsWithAnswer: boolean;
  /** Files of an answer are not sent back. */
  readonly leavesOwnFiles?: true;
}

const name64 = /^[a-zA-Z0-9_-]{1,64}$/;
/** "tools.0.custom.input_schema.properties: Property keys should match pattern". */
const parameter64 = /^[a-zA-Z0-9_.-]{1,64}$/;
/** The form of the strictest, which all others take. */
const nine = /^[a-zA-Z0-9]{9}$/;

/**
 * What providers say about requests, and what they were seen to refuse. The first row whose pattern finds the provider counts, then the
 * first one that finds the model. A server of unknown make gets its own ids back, and those of others in the strictest form.
 */
const table: readonly (readonly [RegExp, ProviderRules])[] = [
  // "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "`tool_use` ids must be unique", "text content
  // blocks must contain non-whitespace text"; https://docs.claude.com/en/api/messages: names have up to 128 characters.
  [/anthropic/i, {
    callId: /^[a-zA-Z0-9_-]+$/,
    mayRepeatIds: false,
    toolName: /^[a-zA-Z0-9_-]{1,128}$/,
    parameter: parameter64,
    takesBlankTexts: false,
    startsWithAnswer: false,
    leavesOwnFiles: true,
  }],
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html: `toolUseId` and `name`.
  [/bedrock/i, {
    callId: name64,
    mayRepeatIds: false,
    toolName: name64,
    parameter: parameter64,
    takesBlankTexts: false,
    startsWithAnswer: false,
    leavesOwnFiles: true,
  }],
  // "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9", also from the templates of its open models.
  [/mistral|mixtral|ministral|devstral|codestral|magistral|pixtral/i, {
    callId: nine,
    mayRepeatIds: false,
    toolName: name64,
    takesBlankTexts: false,
    startsWithAnswer: false,
    leavesOwnFiles: true,
  }],
  // https://ai.google.dev/api/caching#FunctionDeclaration: a name starts with a letter or an underscore. "contents.parts must not be
  // empty"; "function call turn comes immediately after a user turn".
  [/^google|vertex|gemini/i, {
    callId: /^[^]+$/,
    mayRepeatIds: false,
    toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
    parameter: parameter64,
    takesBlankTexts: true,
    startsWithAnswer: false,
  }],
  // "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40"; of responses: 64.
  [/^(?:openai|azure)(?:\.|$)/i, {
    callId: /^[^]{1,40}$/,
    mayRepeatIds: false,
    toolName: name64,
    takesBlankTexts: true,
    startsWithAnswer: true,
    leavesOwnFiles: true,
  }],
];

/** Other packages, and servers of any make that speak OpenAI's chat completions. Their own ids go back, however they look. */
const otherRules: ProviderRules = {
  callId: /^[^]+$/,
  foreignCallId: name64,
  mayRepeatIds: true,
  toolName: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
  takesBlankTexts: true,
  startsWithAnswer: true,
};
const compatibleRules: ProviderRules = { ...otherRules, foreignCallId: nine, leavesOwnFiles: true };

/** Whose rules a model follows: by the names that the AI SDK's package gives it. */
interface ModelNames {
  readonly provider: string;
  readonly modelId: string;
}

/** Returns the history as the provider of a model takes it. Messages that need no change stay the same objects. */
export function fitHistory(prompt: LanguageModelV4Prompt, model: ModelNames): LanguageModelV4Prompt {
  return fitted(prompt, rulesFor(model));
}

function fitted(prompt: LanguageModelV4Prompt, rules: ProviderRules): LanguageModelV4Prompt {
  const ids = new SentIds(rules);
  const messages = prompt.flatMap((message) => fitMessage(message, { rules, ids }) ?? []);
  const first = messages.findIndex(({ role }) => role !== 'system');
  if (rules.startsWithAnswer || messages[first]?.role !== 'assistant') return messages;
  return messages.toSpliced(first, 0, {
    role: 'user',
    content: [{ type: 'text', text: '(The chat goes on from here.)' }],
  });
}

function rulesFor({ provider, modelId }: ModelNames): ProviderRules {
  return rulesOf(provider) ?? rulesOf(modelId) ??
    (provider.startsWith('openai-compatible') ? compatibleRules : otherRules);
}

function rulesOf(name: string): ProviderRules | undefined {
  return table.find(([names]) => names.test(name))?.[1];
}

interface Fitting {
  readonly rules: ProviderRules;
  readonly ids: SentIds;
}

function fitMessage(message: LanguageModelV4Message, fitting: Fitting): LanguageModelV4Message | undefined {
  switch (message.role) {
    case 'assistant':
      return fitAnswer(message, fitting);
    case 'tool':
      return { ...message, content: message.content.map((part) => fitResult(part, fitting)) };
    case 'user':
      return fitQuestion(message, fitting);
    default: // instructions may come from code
      return message.content.isWellFormed() ? message : { ...message, content: message.content.toWellFormed() };
  }
}

type Message<Role> = Extract<LanguageModelV4Message, { role: Role }>;

/** A user who has said nothing has still written. */
function fitQuestion(message: Message<'user'>, { rules }: Fitting): Message<'user'> {
  const isKept = (part: Message<'user'>['content'][number]): boolean => part.type !== 'text' || !isEmpty(part, rules);
  const content = message.content.every(isKept) ? message.content : message.content.filter(isKept);
  if (content === message.content && content.length > 0) return wellFormed(message);
  return { ...message, content: content.length > 0 ? content : [{ type: 'text', text: '(no text)' }] };
}

/** Returns `undefined` for an answer without anything that may stand alone: providers refuse thoughts without an answer. */
function fitAnswer(message: Message<'assistant'>, fitting: Fitting): Message<'assistant'> | undefined {
  const { ids, rules } = fitting;
  ids.startAnswer();
  const content = message.content.filter((part) => part.type !== 'text' || !isEmpty(part, rules))
    .map((part): typeof part => {
      if (part.type === 'file' && rules.leavesOwnFiles) {
        return { type: 'text', text: `[A file of the type ${part.mediaType}]` };
      }
      return part.type === 'tool-call' ? fitCall(part, fitting) : fitResult(part, fitting);
    });
  if (content.every(({ type }) => type === 'reasoning')) return undefined;
  return { ...message, content };
}

interface TextPart {
  readonly text: string;
  readonly providerOptions?: unknown;
}

/** An empty text may carry a signature. */
function isEmpty({ text, providerOptions }: TextPart, { takesBlankTexts }: ProviderRules): boolean {
  return providerOptions === undefined && (takesBlankTexts ? text === '' : text.trim() === '');
}

type CallPart = Extract<Message<'assistant'>['content'][number], { type: 'tool-call' }>;

function fitCall(part: CallPart, { ids, rules }: Fitting): CallPart {
  const { toolCallId, toolName, input, providerExecuted } = part;
  return {
    ...withoutMark(part),
    toolCallId: ids.ofCall(toolCallId, isForeign(part)),
    toolName: nameIn(toolName, rules),
    input: providerExecuted === true ? input : inputObject(input),
  };
}

function fitResult<Part extends { readonly type: string }>(part: Part, { ids, rules }: Fitting): Part {
  if (!isResult(part)) return part;
  const { toolCallId, toolName } = part;
  return { ...withoutMark(part), toolCallId: ids.ofResult(toolCallId), toolName: nameIn(toolName, rules) };
}

interface MayBeForeign {
  readonly providerOptions?: unknown;
}

function isForeign({ providerOptions }: MayBeForeign): boolean {
  return isRecord(providerOptions) && isRecord(providerOptions['pinnace']);
}

function withoutMark<Part extends MayBeForeign>(part: Part): Part {
  if (!isForeign(part)) return part;
  const { providerOptions: _, ...rest } = part;
  return rest as Part; // the field is optional
}

type Result = Extract<Message<'tool'>['content'][number], { type: 'tool-result' }>;

function isResult(part: { readonly type: string }): part is Result {
  return part.type === 'tool-result';
}

/** Providers take an object alone. What the model wrote instead stays readable for it. */
function inputObject(input: unknown): unknown {
  if (isRecord(input)) return input;
  return input === undefined || input === null || input === '' ? {} : { invalidInput: input as JSONValue }; // parsed JSON, or a text
}

/** A made-up name in the form that names have. */
function nameIn(name: string, { toolName }: ProviderRules): string {
  if (toolName.test(name)) return name;
  const plain = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 64);
  return toolName.test(plain) ? plain : `_${plain}`.slice(0, 64);
}

/** The ids of one request. */
class SentIds {
  readonly #rules: ProviderRules;
  /** The calls that wait for their results. Chats that others have stored may use an id again within one answer. */
  readonly #sent = new Map<string, string[]>();
  /** How often an id was shaped, so that a client that repeats one id makes no long search of each call. */
  readonly #tried = new Map<string, number>();
  readonly #used = new Set<string>();
  readonly #ofAnswer = new Set<string>();

  constructor(rules: ProviderRules) {
    this.#rules = rules;
  }

  startAnswer(): void {
    this.#ofAnswer.clear();
    if (!this.#rules.mayRepeatIds) return;
    this.#used.clear();
    this.#tried.clear();
  }

  /** Returns the id that the provider itself gave, where it takes that, or else one in its form. */
  ofCall(toolCallId: string, isForeignCall: boolean): string {
    const { callId, foreignCallId = callId } = this.#rules;
    const form = isForeignCall ? foreignCallId : callId;
    const own = providerCallId(toolCallId);
    const id = form.test(own) && !this.#used.has(own) ? own : this.#shaped(toolCallId, form);
    this.#used.add(id);
    if (this.#ofAnswer.has(toolCallId)) this.#sent.get(toolCallId)?.push(id);
    else this.#sent.set(toolCallId, [id]);
    this.#ofAnswer.add(toolCallId);
    return id;
  }

  ofResult(toolCallId: string): string {
    const sent = this.#sent.get(toolCallId) ?? [];
    return (sent.length > 1 ? sent.shift() : sent[0]) ?? this.#shaped(toolCallId, this.#rules.callId);
  }

  /** The same call gets the same id in each request: what follows it changes nothing. */
  #shaped(toolCallId: string, form: RegExp): string {
    const name = `${form.source} ${toolCallId}`;
    for (let n = this.#tried.get(name) ?? 0;; n++) {
      const source = n === 0 ? toolCallId : `${toolCallId}~${n}`;
      const digest = sha256Sync(source);
      const id = [source.replace(/[^a-zA-Z0-9_-]/g, '_'), digest.slice(0, 32), digest.slice(0, 9)].find((one) =>
        form.test(one)
      );
      if (id === undefined || this.#used.has(id)) continue;
      this.#tried.set(name, n);
      return id;
    }
  }
}

/** A model, ready to be called. */
export interface ResolvedModel {
  readonly model: LanguageModel;
  /** The provider's record, with the name of this model. */
  readonly provider: Provider;
  /** The provider's secret, which the model sends. */
  readonly secret: Secret | undefined;
  /** How many tokens it takes. */
  readonly contextTokens: number;
}

/** A model that may take over. */
export interface FallbackModel extends Fallback {
  /** @throws PinnaceError as `Resolver.resolve` does for the first model. */
  readonly resolve: (spanContext?: SpanContext) => Promise<ResolvedModel>;
}

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  createRuntime,
  defineTool,
  localPrincipal,
  type ObservedEvent,
  type RunRequestInput,
  type Storage,
  type Tool,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { foldMessage } from '../../../../src/runtime/fold-message.ts';
import { budget } from '../../../fixtures/budget.ts';
import { killedAfter } from '../../../fixtures/chance/killed-storage.ts';
import { callsTools, says, streamOf } from '../../../fixtures/model.ts';
import { lastData, readAll, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const words = (count: number, word: string): string => Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ');

const toolOf = (id: string, more: Partial<Parameters<typeof defineTool>[0]> = {}): Tool =>
  defineTool(
    {
      id,
      description: `Does ${id}`,
      input: v.object({ a: v.optional(v.number()) }),
      annotations: { readOnlyHint: true },
      execute: ({ a }) => ({ z: a, text: words(30, id) }),
      ...more,
    } as Parameters<typeof defineTool>[0],
  );
const tools = ['crm_a', 'crm_b', 'crm_c', 'add'].map((id) => toolOf(id));
const mail = toolOf('send_mail', { approval: 'always', annotations: {} });

type Part = Parameters<typeof streamOf>[0][number];
const call = (tool: string, input: unknown = { a: 1 }) => ({ tool, input });
const inner = (name: string) => call('tool_call', { name, arguments: { a: 2 } });

/** What a person, a model and an operator may do. The answers of the model, step by step. */
const actions = {
  turn: [['Fine']],
  long: [[words(180, 'long')]],
  tools: [[call('add'), call('add', { a: 2 })], ['Added']],
  thought: [['thought', call('add')], ['Said']],
  load: [[call('tool_load', { names: ['crm_a'] })], [inner('crm_a')], ['Loaded']],
  loadOther: [[call('tool_load', { names: ['crm_a', 'crm_b'] })], ['Loaded both']],
  unloaded: [[inner('crm_c')], [inner('crm_c')], ['Called']],
  own: [[call('crm_b')], ['Called by its own name']],
  unknown: [[call('nothing_like_it')], ['Sorry']],
  approve: [[call('send_mail')]],
  deny: [[call('add'), call('send_mail')]],
  context: [['Known']],
  ephemeral: [['For once']],
  output: [['{"city":"Oslo"}']],
  repair: [['no json'], ['{"city":"Bergen"}']],
  settings: [['Rhymed']],
  fallback: [['fails']],
  regenerate: [['Again']],
  edit: [['Edited']],
  image: [['Seen']],
  steer: [[call('slow')], ['Steered']],
  ask: [[call('ask', { task: 'Find it' }), call('add')], ['Asked']],
  kill: [[call('add')], ['Lost']],
} as const;
type Action = keyof typeof actions | 'reload' | 'day' | 'reorder' | 'forge' | 'addTool' | 'reverseTools' | 'fork';

const action = fc.constantFrom<Action>(
  ...Object.keys(actions) as (keyof typeof actions)[],
  'reload',
  'day',
  'reorder',
  'forge',
  'addTool',
  'reverseTools',
  'fork',
);
const chats = fc.record({
  actions: fc.array(action, { minLength: 3, maxLength: 16 }),
  contextTokens: fc.constantFrom(3_000, 100_000),
  isStored: fc.boolean(),
  canSummarize: fc.boolean(),
  isNative: fc.boolean(),
});

/** Reasons that need one of these actions. */
const causes: Readonly<Record<string, readonly Action[]>> = {
  edit: ['edit', 'regenerate', 'reorder', 'forge', 'kill'],
  tools: ['addTool'],
  repair: ['repair', 'fork'],
  ephemeral: ['ephemeral'],
  provider: ['fallback'],
  signatures: ['fallback', 'kill'],
  strategy: [],
  choice: [],
  form: [],
  instructions: [],
};

function stepOf(said: readonly unknown[], n: number): readonly Part[] {
  const texts = said.filter((one): one is string => typeof one === 'string' && one !== 'thought');
  const made = said.filter((one): one is ReturnType<typeof call> => typeof one === 'object');
  const parts =
    (made.length > 0
      ? callsTools(...made.map((one, i) => ({ ...one, id: `call-${n}-${i}` })))
      : says(...texts)) as Part[];
  const id = `r${n}`;
  const thought = [
    { type: 'reasoning-start', id },
    { type: 'reasoning-delta', id, delta: `I think ${n}` },
    { type: 'reasoning-end', id, providerMetadata: { anthropic: { signature: `signed-${n}` } } },
  ] as Part[];
  return said.includes('thought') ? [parts[0]!, ...thought, ...parts.slice(1)] : parts;
}

interface Sent {
  readonly blocks: readonly string[];
  readonly breaks: readonly string[];
  /** The calls that it may extend: the one before, and where that was of an instance that was killed, the last one before it. */
  readonly after: readonly (readonly string[])[];
}

interface ChatTerms {
  readonly contextTokens: number;
  readonly isStored: boolean;
  readonly canSummarize: boolean;
  /** Loaded tools are defined in the middle of the chat. */
  readonly isNative: boolean;
}

const image = `data:image/png;base64,${btoa('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0')}`;

class Chat {
  readonly calls: Sent[] = [];
  /** The calls of sub-agents, by their runs. */
  readonly childCalls: (readonly string[])[][] = [];
  readonly unexpected: string[] = [];
  readonly #script: (readonly unknown[])[] = [];
  readonly #storage = memoryStorage();
  readonly #terms: ChatTerms;
  #pending: string[] = [];
  #after: Sent['after'] = [];
  #tools: readonly Tool[] = [
    ...tools,
    mail,
    toolOf('slow', { execute: async () => await this.#steer() }),
  ];
  #now = 1_800_000_000_000;
  #count = 0;
  #chatId = 'c';
  #messages: UIMessage[] = [];
  #last: { readonly runId: string; readonly steps: readonly Sent[] } | undefined;
  #runId = '';
  #runtime: ReturnType<Chat['open']>;

  constructor(terms: ChatTerms) {
    this.#terms = terms;
    this.#runtime = this.open();
  }

  #modelOf(id: string): LanguageModelV4 {
    const doStream = (options: LanguageModelV4CallOptions) => {
      const { prompt, tools: offered = [] } = options;
      const isSummary = JSON.stringify(prompt[0]).includes('You summarize');
      if (isSummary) {
        return Promise.resolve({ stream: streamOf(says(this.#terms.canSummarize ? 'They talked.' : '')) });
      }
      const blocks = [JSON.stringify(offered), ...prompt.map((one) => JSON.stringify(one))];
      if (id === 'small') return Promise.resolve({ stream: streamOf(this.#childStep(blocks)) });
      if (id === 'main') {
        this.calls.push({ blocks, breaks: this.#pending, after: this.#after });
        [this.#pending, this.#after] = [[], [blocks]];
      }
      const said = id === 'main' ? this.#script.shift() ?? ['Done'] : ['Spare'];
      if (said[0] === 'fails') {
        const down = { name: 'AI_APICallError', statusCode: 503, isRetryable: false };
        return Promise.reject(Object.assign(new Error('down'), down));
      }
      return Promise.resolve({ stream: streamOf(stepOf(said, ++this.#count)) });
    };
    return {
      specificationVersion: 'v4',
      provider: id === 'main' && this.#terms.isNative ? 'anthropic.messages' : id,
      modelId: id,
      supportedUrls: {},
      doStream,
      doGenerate: () => Promise.reject(new Error('streams only')),
    } as LanguageModelV4;
  }

  #childStep(blocks: readonly string[]): readonly Part[] {
    const isFirst = !blocks.some((block) => block.startsWith('{"role":"assistant"'));
    if (isFirst) this.childCalls.push([]);
    this.childCalls.at(-1)?.push(blocks);
    return stepOf(isFirst ? [call('add')] : ['Found'], ++this.#count);
  }

  async #steer(): Promise<string> {
    const parts = [{ type: 'text' as const, text: 'And this' }];
    await this.#runtime.send(this.#runId, { id: `s${++this.#count}`, parts }, me).catch(() => undefined);
    return 'sent';
  }

  open(storage: Storage = this.#storage) {
    const models = new Map(['main', 'spare', 'small'].map((id) => [id, this.#modelOf(id)]));
    return createRuntime({
      catalog: staticCatalog({
        agents: [{
          id: 'helper',
          name: 'Helper',
          providerId: 'main',
          instructions: 'Help.',
          entryTools: ['tool_*', 'crm_*', 'add', 'send_mail', 'slow', 'ask', 'extra*'],
          fallbacks: [{ providerId: 'spare' }],
          facts: ['date'],
          callerSettings: { instructions: true },
          contextTokens: this.#terms.contextTokens,
        }, { id: 'finder', name: 'Finder', providerId: 'small', entryTools: ['add'] }],
        providers: [...models.keys()].map((id) => ({
          id,
          kind: 'custom' as const,
          cache: 'off' as const,
          toolLoading: this.#terms.isNative ? 'native' as const : 'call' as const,
        })),
        tools: [{
          id: 'ask',
          name: 'ask',
          type: 'agent',
          description: 'Asks the finder',
          paramsSchema: { type: 'object' },
          config: { agentId: 'finder' },
        }],
      }),
      models: { model: ({ id }) => models.get(id)! },
      storage,
      keep: 'inputs',
      tools: [...this.#tools],
      limits: { modelRetries: 0 },
      now: () => this.#now,
      sinks: [this.#observe],
    });
  }

  readonly #observe = ({ action: name, target, payloadSummary }: ObservedEvent): void => {
    if (name === 'prompt.unexpected') this.unexpected.push(payloadSummary);
    if (name === 'prompt.break' && target.id === 'main') this.#pending.push(payloadSummary);
  };

  async act(name: Action): Promise<void> {
    if (name === 'reload') this.#runtime = this.open();
    else if (name === 'day') {
      this.#now += 86_400_000;
      this.#last = undefined; // runs expire with the day
    } else if (name === 'reverseTools' || name === 'addTool') {
      this.#tools = name === 'addTool'
        ? [toolOf(`extra${this.#tools.length}`), ...this.#tools]
        : this.#tools.toReversed();
      this.#runtime = this.open();
    } else if (name === 'reorder') this.#messages = this.#messages.map(reordered);
    else if (name === 'forge') this.#messages = this.#messages.map(forged);
    else if (name === 'fork') await this.#fork();
    else await this.#turn(name);
  }

  /** Makes a step of the last run again, in a chat of its own, and goes on there. */
  async #fork(): Promise<void> {
    const { runId, steps } = this.#last ?? {};
    if (runId === undefined || !steps?.length || this.#terms.isStored) return;
    const atStep = 1 + this.#count % steps.length;
    this.#script.splice(0, this.#script.length, ['Forked']);
    this.#after = [steps[atStep - 1]!.blocks];
    this.#chatId = `f${++this.#count}`;
    const at = this.calls.length;
    const chunks = await readAll(await this.#runtime.fork(runId, { atStep, chatId: this.#chatId }, me));
    const own = this.calls[at];
    // A rejected answer is in no log.
    const isExact = lastData(chunks, 'data-fork')['exact'] === true;
    if (own && !isExact) this.calls[at] = { ...own, after: [] };
    this.#messages.pop();
    this.#fold(chunks);
    this.#last = undefined;
  }

  #fold(chunks: readonly UIMessageChunk[]): void {
    const last = this.#messages.at(-1);
    const own = last?.role === 'assistant' ? this.#messages.pop()! : { id: '', role: 'assistant' as const, parts: [] };
    this.#messages.push(JSON.parse(JSON.stringify(foldMessage(chunks, own))) as UIMessage);
  }

  async #turn(name: keyof typeof actions): Promise<void> {
    this.#script.splice(0, this.#script.length, ...actions[name]);
    const users = this.#messages.filter(({ role }) => role === 'user');
    const isAgain = (name === 'regenerate' || name === 'edit') && users.length > 0;
    if (isAgain) {
      const from = name === 'edit' ? users.at(-2) ?? users.at(-1)! : users.at(-1)!;
      this.#messages = this.#messages.slice(0, this.#messages.indexOf(from));
      this.#messages.push(name === 'edit' ? userMessage(`Edited ${this.#count}`, from.id) : from);
    } else {
      const message = userMessage(`${name} ${words(12, name)}`, `u${++this.#count}`);
      const file = { type: 'file' as const, mediaType: 'image/png', url: image };
      this.#messages.push(name === 'image' ? { ...message, parts: [file, ...message.parts] } : message);
    }
    if (name === 'kill') return await this.#killTurn();
    const more: Partial<RunRequestInput> = {
      ...(name === 'context' &&
        { context: [{ content: `Fact ${this.#count % 3} ${words(9, 'fact')}`, source: 'memory' }] }),
      ...(name === 'ephemeral' && { context: [{ content: 'Only now', ephemeral: true }] }),
      ...(name === 'settings' && { settings: { instructions: 'Rhyme' } }),
      ...((name === 'output' || name === 'repair') && {
        output: { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
      }),
    };
    const chunks = await this.#run(more);
    const asked = chunks.find((chunk) => chunk.type === 'tool-approval-request');
    if (!asked) return;
    const runId = String(lastData(chunks, 'data-run')['runId']);
    await this.#runtime.decide(runId, asked.approvalId, { approved: name === 'approve' }, me);
    if (!this.#terms.isStored) {
      const last = this.#messages.at(-1)!;
      const parts = last.parts.map((part) =>
        'approval' in part && part.approval
          ? { ...part, state: 'approval-responded', approval: { id: part.approval.id, approved: name === 'approve' } }
          : part
      ) as UIMessage['parts']; // as a client answers
      this.#messages[this.#messages.length - 1] = { ...last, parts };
    }
    await this.#run({});
  }

  #request(more: Partial<RunRequestInput>): RunRequestInput {
    const { isStored } = this.#terms;
    const sent = JSON.parse(JSON.stringify(isStored ? this.#messages.slice(-1) : this.#messages)) as UIMessage[];
    return { agentId: 'helper', chat: { id: this.#chatId, messages: sent, ...(isStored && { store: true }) }, ...more };
  }

  async #run(more: Partial<RunRequestInput>): Promise<UIMessageChunk[]> {
    const first = this.calls.length;
    const isNew = this.#messages.at(-1)?.role === 'user'; // else it goes on with an answer, of which a fork has only its part
    const chunks: UIMessageChunk[] = [];
    for await (const chunk of await this.#runtime.run(this.#request(more), me)) {
      chunks.push(chunk);
      if (chunk.type === 'data-run') this.#runId = chunk.id ?? this.#runId;
    }
    this.#fold(chunks);
    const isWhole = !chunks.some(({ type }) => type === 'tool-approval-request' || type === 'data-model');
    this.#last = isNew && isWhole ? { runId: this.#runId, steps: this.calls.slice(first) } : undefined;
    return chunks;
  }

  /** Its instance is killed at one of its commits. The chat goes on at another one, with what the client has read. */
  async #killTurn(): Promise<void> {
    const before = this.#after;
    const { storage, killed } = killedAfter(this.#storage, 1 + this.#count % 7);
    const chunks: UIMessageChunk[] = [];
    const runtime = this.open(storage);
    const ended = (async () => {
      for await (const chunk of await runtime.run(this.#request({}), me)) chunks.push(chunk);
    })();
    await Promise.race([killed, ended]);
    if (chunks.length > 0) this.#fold(chunks);
    this.#last = undefined;
    this.#after = [...this.#after, ...before];
    this.#script.length = 0;
    this.#pending = [];
    this.#now += 60_000;
    this.#runtime = this.open();
  }
}

/** A client that changes what an answer has said. */
function forged(message: UIMessage): UIMessage {
  const parts = message.parts.map((part) =>
    message.role === 'assistant' && part.type === 'text' ? { ...part, text: `${part.text}!` } : part
  );
  return { ...message, parts };
}

/** A client that writes the keys of outputs in another order. */
function reordered(message: UIMessage): UIMessage {
  const parts = message.parts.map((part) =>
    'output' in part && typeof part.output === 'object' && part.output !== null && !Array.isArray(part.output)
      ? { ...part, output: Object.fromEntries(Object.entries(part.output).toReversed()) }
      : part
  );
  return { ...message, parts };
}

function firstChanged(before: readonly string[], next: readonly string[]): number {
  return before.findIndex((block, at) => next[at] !== block);
}

async function playAndCheck({ actions: named, ...terms }: ChatTerms & { readonly actions: Action[] }) {
  const chat = new Chat(terms);
  for (const name of named) await chat.act(name);
  expect(chat.unexpected).toEqual([]);
  for (const [at, { blocks, breaks, after }] of chat.calls.entries()) {
    if (!blocks.some((block) => block.startsWith('{"role":"assistant"'))) continue; // sent anew: as another chat, nothing is read for it
    const changes = after.map((before) => firstChanged(before, blocks));
    const reasons = breaks.map((one) => /reason=(\w+)/.exec(one)?.[1] ?? '');
    const positions = breaks.map((one) => Number(/position=(\d+)/.exec(one)?.[1]));
    if (changes.length > 0 && changes.every((changed) => changed >= 0)) {
      const [changed = 0] = changes;
      expect(positions.some((one) => changes.includes(one)), `call ${at}: ${blocks[changed]}`).toBe(true);
    } else if (after.length === 1) expect(reasons.filter((reason) => reason !== 'retention'), `call ${at}`).toEqual([]);
    for (const reason of reasons) {
      const needed = causes[reason];
      if (needed) expect(named.some((name) => needed.includes(name)), `${reason} at call ${at}`).toBe(true);
    }
  }
  for (const steps of chat.childCalls) {
    for (const [at, blocks] of steps.entries()) {
      if (at > 0) expect(firstChanged(steps[at - 1]!, blocks)).toBe(-1);
    }
  }
}

describe('the prompts of a chat, whatever happens in it', () => {
  it('extend each other, or the change is announced with its place and a reason', { timeout: 3_600_000 }, async () => {
    await fc.assert(fc.asyncProperty(chats, playAndCheck), {
      numRuns: budget({ short: 60, long: 10_000 }),
    });
  });
});

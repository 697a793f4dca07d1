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
  type Tool,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { foldMessage } from '../../../../src/runtime/fold-message.ts';
import { budget } from '../../../fixtures/budget.ts';
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
} as const;
type Action = keyof typeof actions | 'reload' | 'day' | 'reorder' | 'addTool' | 'reverseTools';

const action = fc.constantFrom<Action>(
  ...Object.keys(actions) as (keyof typeof actions)[],
  'reload',
  'day',
  'reorder',
  'addTool',
  'reverseTools',
);
const chats = fc.record({
  actions: fc.array(action, { minLength: 3, maxLength: 16 }),
  contextTokens: fc.constantFrom(3_000, 100_000),
  isStored: fc.boolean(),
});

/** Reasons that need one of these actions. */
const causes: Readonly<Record<string, readonly Action[]>> = {
  edit: ['edit', 'regenerate', 'reorder'],
  tools: ['addTool'],
  repair: ['repair'],
  ephemeral: ['ephemeral'],
  provider: ['fallback'],
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
  /** The breaks that were announced for it. */
  readonly breaks: readonly string[];
}

class Chat {
  readonly calls: Sent[] = [];
  readonly unexpected: string[] = [];
  readonly #script: (readonly unknown[])[] = [];
  readonly #storage = memoryStorage();
  readonly #isStored: boolean;
  readonly #contextTokens: number;
  #pending: string[] = [];
  #tools: readonly Tool[] = [...tools, mail];
  #now = 1_800_000_000_000;
  #count = 0;
  #messages: UIMessage[] = [];
  #runtime: ReturnType<Chat['open']>;

  constructor({ contextTokens, isStored }: { readonly contextTokens: number; readonly isStored: boolean }) {
    this.#contextTokens = contextTokens;
    this.#isStored = isStored;
    this.#runtime = this.open();
  }

  #modelOf(id: string): LanguageModelV4 {
    const doStream = (options: LanguageModelV4CallOptions) => {
      const { prompt, tools: offered = [] } = options;
      const isSummary = JSON.stringify(prompt[0]).includes('You summarize');
      if (isSummary) return Promise.resolve({ stream: streamOf(says('They talked.')) });
      if (id === 'main') {
        this.calls.push({
          blocks: [JSON.stringify(offered), ...prompt.map((one) => JSON.stringify(one))],
          breaks: this.#pending,
        });
        this.#pending = [];
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
      provider: id,
      modelId: id,
      supportedUrls: {},
      doStream,
      doGenerate: () => Promise.reject(new Error('streams only')),
    } as LanguageModelV4;
  }

  open() {
    const models = new Map(['main', 'spare'].map((id) => [id, this.#modelOf(id)]));
    return createRuntime({
      catalog: staticCatalog({
        agents: [{
          id: 'helper',
          name: 'Helper',
          providerId: 'main',
          instructions: 'Help.',
          entryTools: ['tool_*', 'crm_*', 'add', 'send_mail', 'extra*'],
          fallbacks: [{ providerId: 'spare' }],
          facts: ['date'],
          callerSettings: { instructions: true },
          contextTokens: this.#contextTokens,
        }],
        providers: [{ id: 'main', kind: 'custom' }, { id: 'spare', kind: 'custom' }],
      }),
      models: { model: ({ id }) => models.get(id)! },
      storage: this.#storage,
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
    else if (name === 'day') this.#now += 86_400_000;
    else if (name === 'reverseTools' || name === 'addTool') {
      this.#tools = name === 'addTool'
        ? [toolOf(`extra${this.#tools.length}`), ...this.#tools]
        : this.#tools.toReversed();
      this.#runtime = this.open();
    } else if (name === 'reorder') this.#messages = this.#messages.map(reordered);
    else await this.#turn(name);
  }

  async #turn(name: keyof typeof actions): Promise<void> {
    this.#script.splice(0, this.#script.length, ...actions[name]);
    const users = this.#messages.filter(({ role }) => role === 'user');
    const isAgain = (name === 'regenerate' || name === 'edit') && users.length > 0;
    if (isAgain) {
      const from = name === 'edit' ? users.at(-2) ?? users.at(-1)! : users.at(-1)!;
      this.#messages = this.#messages.slice(0, this.#messages.indexOf(from));
      this.#messages.push(name === 'edit' ? userMessage(`Edited ${this.#count}`, from.id) : from);
    } else this.#messages.push(userMessage(`${name} ${words(12, name)}`, `u${++this.#count}`));
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
    if (!this.#isStored) {
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

  async #run(more: Partial<RunRequestInput>): Promise<UIMessageChunk[]> {
    const sent = JSON.parse(JSON.stringify(this.#isStored ? this.#messages.slice(-1) : this.#messages)) as UIMessage[];
    const chat = { id: 'c', messages: sent, ...(this.#isStored && { store: true }) };
    const chunks = await readAll(await this.#runtime.run({ agentId: 'helper', chat, ...more }, me));
    const last = this.#messages.at(-1)!;
    if (last.role === 'assistant') this.#messages.pop();
    const own = last.role === 'assistant' ? last : { id: '', role: 'assistant' as const, parts: [] };
    this.#messages.push(JSON.parse(JSON.stringify(foldMessage(chunks, own))) as UIMessage);
    return chunks;
  }
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

async function playAndCheck(
  given: { readonly actions: Action[]; readonly contextTokens: number; readonly isStored: boolean },
) {
  const chat = new Chat(given);
  for (const name of given.actions) await chat.act(name);
  expect(chat.unexpected).toEqual([]);
  for (const [at, { blocks, breaks }] of chat.calls.entries()) {
    if (!blocks.some((block) => block.startsWith('{"role":"assistant"'))) continue; // sent anew: as another chat, nothing is read for it
    const before = chat.calls[at - 1]?.blocks ?? [];
    const changed = firstChanged(before, blocks);
    const reasons = breaks.map((one) => /reason=(\w+)/.exec(one)?.[1] ?? '');
    const positions = breaks.map((one) => Number(/position=(\d+)/.exec(one)?.[1]));
    if (changed >= 0) {
      expect(positions, `call ${at} changes ${before[changed]} to ${blocks[changed]}`).toContain(changed);
    } else expect(reasons.filter((reason) => reason !== 'retention'), `call ${at}`).toEqual([]);
    for (const reason of reasons) {
      const needed = causes[reason];
      if (needed) expect(given.actions.some((name) => needed.includes(name)), `${reason} at call ${at}`).toBe(true);
    }
  }
}

describe('the prompts of a chat, whatever happens in it', () => {
  it('extend each other, or the change is announced with its place and a reason', { timeout: 900_000 }, async () => {
    await fc.assert(fc.asyncProperty(chats, playAndCheck), {
      numRuns: budget({ short: 500, long: 10_000 }),
    });
  });
});

/** Two agents, or one in two variants, that get the same message at once. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Agent, Provider } from '../../../src/registry/index.ts';
import type { Variation } from '../worker/control.ts';
import type { AgentCard } from '../../app/worker/control.ts';
import type { RegistryControl } from '../../registry/worker/control.ts';
import { isRunning } from '../../chat/state/chat.ts';
import { agentOf, type Playground } from '../../app/state/playground.ts';
import { nameOfModel } from '../../settings/state/model-name.ts';
import { problemOf } from '../../kit/answer-problem.ts';

/** One of the two. */
export interface Side {
  readonly name: 'A' | 'B';
  /** The page of this side, with its own chats. */
  readonly playground: Playground;
  readonly agentId: ReadonlySignal<string>;
  /** The agent's record; `undefined` until the worker has given it. */
  readonly agent: ReadonlySignal<Agent | undefined>;
  /** What it has otherwise than the agent. */
  readonly variation: ReadonlySignal<Variation>;
  readonly provider: ReadonlySignal<Provider | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  choose(agentId: string): Promise<void>;
  vary(variation: Variation): void;
}

/** The comparison. */
export interface Compare {
  readonly sides: readonly [Side, Side];
  readonly providers: ReadonlySignal<readonly Provider[]>;
  readonly draft: Signal<string>;
  readonly isRunning: ReadonlySignal<boolean>;
  /** Whether both are the same unchanged agent. */
  readonly isSame: ReadonlySignal<boolean>;
  /** Both are the chat's agent; B has another provider's model where there is one. */
  start(): Promise<void>;
  /** Sends to both. A changed side starts a new chat. */
  send(): Promise<void>;
  stop(): void;
  /** Keeps a side as a chat, and opens it; what was varied becomes an agent of its own. Returns whether it worked. */
  keep(side: Side): Promise<boolean>;
}

/** Creates the comparison. Calls the worker only after `start`. */
export function createCompare(playground: Playground): Compare {
  const control = playground.registry.connect();
  const providers = signal<readonly Provider[]>([]);
  const sides = [createSide('A'), createSide('B')] as const;
  const draft = signal('');

  function createSide(name: Side['name']): OwnSide {
    return ownSide({ name, playground, control, providers });
  }

  const compare: Compare = {
    sides,
    providers,
    draft,
    isRunning: computed(() => sides.some((side) => isRunning(side.playground.chats.current.value))),
    isSame: computed(() =>
      sides[0].agentId.value === sides[1].agentId.value &&
      JSON.stringify(sides[0].variation.value) === JSON.stringify(sides[1].variation.value)
    ),
    async start() {
      const page = await control.list('provider', { limit: 200 }).catch(() => undefined);
      if (page?.ok) providers.value = page.value.items as readonly Provider[]; // as asked for
      const { value: current } = playground.chats.current.value.agentId;
      await Promise.all(sides.map((side) => side.choose(current)));
      const { providerId } = sides[1].agent.value ?? {};
      const other = providers.value.find(({ id, state }) => id !== providerId && state === 'active');
      if (other && compare.isSame.value) sides[1].vary({ providerId: other.id });
    },
    async send() {
      const text = draft.value;
      if (text.trim() === '') return;
      const ready = await Promise.all(sides.map((side) => side.prepare()));
      if (ready.includes(false)) return;
      const isSent = sides.map((side) => side.playground.send(text));
      if (!isSent.includes(false)) draft.value = '';
    },
    stop: () => sides.forEach((side) => side.playground.chats.stop()),
    async keep(side) {
      const chat = side.playground.chats.current.value;
      const own = sides.find((one) => one === side);
      const agentId = await own?.settle();
      if (agentId === undefined) return false;
      await playground.refreshAgents().catch(() => undefined); // the chat then shows the agent's id
      chat.agentId.value = agentId;
      side.playground.chats.start(side.agentId.value);
      await playground.chats.adopt(chat);
      return true;
    },
  };
  return compare;
}

interface OwnSide extends Side {
  /** Has the agent ready that the next message goes to. */
  prepare(): Promise<boolean>;
  /** Returns an agent of the registry that is as this side; `undefined`: the registry refused. */
  settle(): Promise<string | undefined>;
}

interface OwnSideOptions {
  readonly name: Side['name'];
  readonly playground: Playground;
  readonly control: RegistryControl;
  readonly providers: ReadonlySignal<readonly Provider[]>;
}

function ownSide({ name, playground, control, providers }: OwnSideOptions): OwnSide {
  const agentId = signal('');
  const agent = signal<Agent | undefined>(undefined);
  const variation = signal<Variation>({});
  const problem = signal<string | undefined>(undefined);
  /** What runs: the agent, or the variant that was made of it; it goes with each change. */
  const running = signal<string | undefined>(undefined);
  const provider = computed(() => {
    const wanted = variation.value.providerId ?? agent.value?.providerId;
    return providers.value.find(({ id }) => id === wanted);
  });
  const cardOf = (): AgentCard => ({
    ...agentOf(playground.agents, agentId.value),
    id: running.value ?? agentId.value,
  });
  const own = playground.aside({
    agents: () => [cardOf(), ...playground.agents],
    modelLabel: () =>
      [provider.value?.id, modelOf()].flatMap((part) =>
        part === undefined || part === 'default' ? [] : nameOfModel(part)
      )
        .join(' · '),
  });

  function modelOf(): string | undefined {
    return variation.value.model ?? agent.value?.model ?? provider.value?.model;
  }

  return {
    name,
    playground: own,
    agentId,
    agent,
    variation,
    provider,
    problem,
    async choose(next) {
      batch(() => {
        agentId.value = next;
        agent.value = undefined;
        variation.value = {};
        running.value = undefined;
        problem.value = undefined;
      });
      own.chats.stop();
      const found = await control.get('agent', next).catch(() => undefined);
      if (agentId.value !== next) return; // another was chosen meanwhile
      if (found?.ok) agent.value = found.value.record as Agent; // as asked for
      else problem.value = problemOf(found, 'The registry did not respond');
    },
    vary(next) {
      const given = Object.entries(next).filter(([, value]) => value !== undefined && value !== '');
      variation.value = Object.fromEntries(given);
      running.value = undefined;
    },
    async prepare() {
      if (running.value !== undefined) return true;
      const isVaried = Object.keys(variation.value).length > 0;
      const made = isVaried
        ? await control.varyAgent(agentId.value, variation.value).catch(() => undefined)
        : undefined;
      problem.value = isVaried ? problemOf(made, 'The worker did not respond') : undefined;
      if (isVaried && !made?.ok) return false;
      running.value = made?.ok ? made.value.id : agentId.value;
      own.chats.start(running.value);
      return true;
    },
    async settle() {
      if (Object.keys(variation.value).length === 0 || !agent.value) return agentId.value;
      const { id: _, revision: __, createdAt: ___, updatedAt: ____, ...record } = agent.value;
      const made = await control.create('agent', { ...record, ...variation.value, name: `${record.name} ${name}` })
        .catch(() => undefined);
      problem.value = problemOf(made, 'The registry did not respond');
      return made?.ok ? made.value.id : undefined;
    },
  };
}

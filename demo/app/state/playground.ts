/** Everything that the page's components share, put together. */

import { type Signal, signal } from '@preact/signals';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { AgentCard, PlanSteering } from '../../control/page-control.ts';
import type { EvalsControl } from '../../control/evals-control.ts';
import type { InspectorControl } from '../../control/runs-control.ts';
import type { RegistryControl } from '../../control/registry-control.ts';
import { type Chats, type ChatsOptions, createChats } from '../../chat/state/chats.ts';
import { noTabs } from '../../chat/state/chat-tabs.ts';
import type { Connection } from './connect.ts';
import type { Schedule } from '../../kit/hooks/frame-queue.ts';
import type { ChatStore } from '../../chat/state/chat-storage.ts';
import type { AttachedFile } from '../../files/state/attached-file.ts';
import type { McpContent, Transport } from '../../chat/state/run.ts';
import type { ToolPart } from '../../chat/state/message.ts';
import type { Notes } from '../../storage/notes.ts';
import { createOffline, type Offline } from '../../offline/state/offline.ts';
import { createSettings, endpointOf, modelLabel, modelPlaceOf } from '../../settings/state/settings.ts';
import { WaitingList } from '../../inbox/state/inbox.ts';
import type { Theme } from './theme.ts';
import type { PlanQuestion } from '../../plan/state/plan-data.ts';
import type { Answer } from '../../plan/state/plan-reply.ts';
import type { Screen } from './route.ts';
import type { Overlay, Places } from './screens.ts';
import { type ConnectedTransports, createTransports, type RemoteEndpoint } from '../../chat/state/transports.ts';

/** The ways to runs: those of this page, and those at servers. */
export interface RunsAccess {
  readonly connect: () => InspectorControl;
  /** The test cases of this page. */
  readonly evals: () => EvalsControl;
  readonly runAt: ConnectedTransports['runAt'];
  /** The way to the runs of a server, or of this page. */
  readonly to: (via: string | undefined) => Transport;
}

/** The page's state. */
export interface Playground extends Places {
  /** As they are now: a component that reads them is drawn anew when they change. */
  readonly agents: readonly AgentCard[];
  /** Reloads the agents from the worker. */
  refreshAgents(): Promise<void>;
  readonly chats: Chats;
  readonly chatStore: Pick<ChatStore, 'notStored' | 'unreadable' | 'tabs' | 'searchIndex' | 'deleted' | 'purge'>;
  readonly theme: Signal<Theme>;
  readonly offline: Offline;
  /** Counted up when the composer should get the focus. */
  readonly focusRequests: Signal<number>;
  /** The way to this page's registry. */
  readonly registry: { readonly connect: () => RegistryControl };
  /** The way to a server's registry, runs, plans, metrics and audit log. */
  readonly server: { readonly connect: ConnectedTransports['consoleOf'] };
  readonly runs: RunsAccess;
  /** The tour: whether it is shown, and the notes that store its progress. */
  readonly tour: { readonly isShown: Signal<boolean>; readonly notes: Notes };
  /** Ends the page's worker at once, as a crash would, and reloads the page at this address. */
  readonly crash: (hash: string) => void;
  /** Stops all writers; reload the page afterwards. */
  readonly quiet: () => Promise<void>;
  /** The ways to the worker's side of WebMCP. */
  readonly webmcp: Connection['webmcp'];
  /** The same page with separate chats that are not stored, run by this page's worker. */
  aside(given: { readonly agents: () => readonly AgentCard[]; readonly modelLabel: () => string }): Playground;
  /** Read out by screen readers. */
  readonly announcement: Signal<string>;
  /** Sends, or first requests the endpoint's key when it was not stored. */
  send(text: string, files?: readonly AttachedFile[]): boolean;
  /** Reads a stored file of the page's worker, or of an endpoint. */
  readonly readFile: (url: string, via: string | undefined) => Promise<Blob>;
  /** The MCP servers' prompts and resources, where the next message goes. */
  readonly mcp: () => Promise<McpContent>;
  retry(): void;
  /** Sends a message once more with this text, or first requests the endpoint's key as `send` does. */
  edit(messageId: string, text: string): boolean;
  /** Decides on a call that waits in a chat. `send` sends the decision, where it is not an approval. */
  decide(part: ToolPart, decision: Decision, send?: () => Promise<void>): void;
  /** What else the page's worker, or a server, offers: MCP apps and sign-ins, schedules, stored chats, ways back. */
  readonly rooms: (via: string | undefined) => Promise<McpContent>;
  /** What waits for the person, here and at the chosen server. */
  readonly waiting: WaitingList;
  /** Answers a question of the plan in the open chat. */
  reply(question: PlanQuestion, answer: Answer): void;
  /** Pauses the plan in the open chat, lets it go on, or cancels it, if it is this page's worker that runs it. */
  steerPlan(how: PlanSteering): void;
}

interface PlaygroundOptions extends Connection {
  /** Connects to a Pinnace endpoint by its address. */
  readonly connectEndpoint: (endpoint: string) => Promise<RemoteEndpoint>;
  readonly chatStore: ChatStore;
  /** Ends everything that writes. */
  readonly quiet: () => Promise<void>;
  /** Ends the worker at once and reloads the page at this address. */
  readonly crash: (hash: string) => void;
  readonly notes: Notes;
  readonly theme: Signal<Theme>;
  readonly now?: () => number;
  readonly createId?: () => string;
  readonly schedule?: Schedule;
}

/** Where screens start. */
const start: readonly string[] = [];

/** Puts the page's state together. */
export function createPlayground(options: PlaygroundOptions): Playground {
  const { agents, control, transport, chatStore, notes, theme, now = Date.now, schedule } = options;
  const transports = createTransports({
    worker: transport,
    connectEndpoint: options.connectEndpoint,
    chosen: () => endpointOf(settings.choice.value),
  });
  const settings = createSettings({
    control,
    notes,
    connect: (url) => transports.connect(url),
    async serveBrowser() {
      const { serveBrowserModel } = await import('../../../adapters/models/browser/page.ts');
      const { port1, port2 } = new MessageChannel();
      serveBrowserModel(port1); // until the worker uses another model
      await options.connectBrowserModel(port2);
    },
  });
  const cards = signal(agents);
  const overlay = signal<Overlay>('none');
  const chatOptions: ChatsOptions = {
    transports,
    chatStore,
    notes,
    defaultAgentId: agents[0]?.id ?? '',
    isPlanner: (agentId) => agentOf(agents, agentId).plans === true,
    steerPlan: (planId, how) => control.steerPlan(planId, how),
    modelLabel: (model) => modelLabel(settings.choice.value, model),
    modelPlace: () => modelPlaceOf(settings.choice.value),
    now,
    createId: options.createId ?? (() => crypto.randomUUID()),
    ...(schedule && { schedule }),
  };

  /** Whether a run can start; opens the settings if something is missing. */
  function isReady(): boolean {
    const { value: choice } = settings.choice;
    if (choice.type !== 'endpoint' || !choice.locked) return true;
    overlay.value = 'settings';
    return false;
  }

  const shared = {
    async refreshAgents() {
      chatStore.tabs.emit({ type: 'agents' });
      cards.value = await control.agents();
    },
    chatStore,
    settings,
    theme,
    offline: createOffline(),
    overlay,
    focusRequests: signal(0),
    tree: { isShown: signal(false), connect: options.connectTree },
    screen: signal<Screen | undefined>(undefined),
    agentsAt: { page: signal(start), server: signal(start) },
    nowhere: signal<string | undefined>(undefined),
    registry: { connect: options.connectRegistry },
    server: { connect: (url: string) => transports.consoleOf(url) },
    runs: {
      connect: options.connectInspector,
      evals: options.connectEvals,
      runAt: (...args: Parameters<RunsAccess['runAt']>) => transports.runAt(...args),
      to: (via: string | undefined) => transports.to(via),
    },
    knowledge: {
      isShown: signal(false),
      at: signal(start),
      wanted: signal(undefined),
      connect: options.connectKnowledge,
    },
    quiet: options.quiet,
    webmcp: options.webmcp,
    tour: { isShown: signal(false), notes },
    crash: options.crash,
    announcement: signal(''),
  };

  chatStore.tabs.subscribe(({ type }) => {
    if (type === 'agents') void control.agents().then((found) => (cards.value = found), () => undefined);
  });

  const chats = createChats(chatOptions);
  const waiting = new WaitingList({
    rooms: (via) => transports.to(via).mcp(),
    chosen: () => transports.chosen(),
  });

  function around(own: Chats, agentsNow: () => readonly AgentCard[]): Playground {
    return {
      ...shared,
      get agents() {
        return agentsNow();
      },
      chats: own,
      aside: (given) =>
        around(
          createChats({
            ...chatOptions,
            chatStore: storesNothing,
            notes: undefined,
            transports: { ...transports, chosen: () => undefined },
            modelLabel: given.modelLabel,
            modelPlace: () => undefined,
          }),
          given.agents,
        ),
      readFile: (url, via) => transports.to(via).readFile(url),
      mcp: () => transports.to(transports.chosen()).mcp(),
      send(text, files) {
        if (!isReady()) return false;
        own.send(text, files);
        return true;
      },
      edit(messageId, text) {
        if (!isReady()) return false;
        own.edit(messageId, text);
        return true;
      },
      retry() {
        if (isReady()) own.retry();
      },
      decide: (part, decision, send) => void own.decide(part, decision, send),
      waiting,
      rooms: (via) => transports.to(via).mcp(),
      reply: (question, answer) => void own.reply(question, answer),
      // The plan view shows the result.
      steerPlan: (how) => void own.steerPlan(how).catch(() => undefined),
    };
  }

  return around(chats, () => cards.value);
}

const storesNothing: ChatStore = {
  notStored: signal(undefined),
  unreadable: signal(0),
  tabs: noTabs,
  heads: () => Promise.resolve([]),
  messages: () => Promise.resolve([]),
  save: () => Promise.resolve('stored'),
  catchUp: () => Promise.resolve(undefined),
  remove: () => Promise.resolve(),
  deleted: () => Promise.resolve([]),
  restore: () => Promise.resolve(false),
  purge: () => Promise.resolve(),
  searchIndex: () => Promise.reject(new Error('These chats are not stored')),
};

/** The agent of a chat; a removed one has its id as name. */
export function agentOf(agents: readonly AgentCard[], agentId: string): AgentCard {
  return agents.find(({ id }) => id === agentId) ??
    { id: agentId, name: agentId, description: '', tools: [], suggestions: [] };
}

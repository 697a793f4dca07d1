/** Who answers, and what of that choice is remembered: address and model, never the key. */

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import * as v from 'valibot';
import type {
  AgentCard,
  AskedServer,
  Endpoint,
  PlanSteering,
  ServerAnswer,
  ServerModel,
} from '../../control/page-control.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import type { Notes } from '../../storage/notes.ts';
import { scriptedLabel } from '../../kit/model-name.ts';

/** The worker's control interface as the page calls it. */
export interface RemoteControl {
  agents(): Promise<readonly AgentCard[]>;
  useEndpoint(endpoint: Endpoint | undefined): Promise<void>;
  useModel(model: ServerModel): Promise<boolean>;
  askServer(asked: AskedServer): Promise<ServerAnswer>;
  connectedEndpoint(): Promise<ServerModel | undefined>;
  steerPlan(planId: string, how: PlanSteering): Promise<void>;
}

/**
 * The model in use, or the Pinnace endpoint that runs the agents in place of this page. `locked`: the key of the model's endpoint must
 * be entered again, or the vault opened that holds it.
 */
export type ModelChoice =
  | { readonly type: 'rehearsal' }
  | { readonly type: 'browser' }
  | {
    readonly type: 'endpoint';
    readonly baseUrl: string;
    readonly model: string;
    readonly keyless: boolean;
    readonly locked: boolean;
    readonly inVault?: boolean | undefined;
  }
  | { readonly type: 'pinnace'; readonly url: string };

/** A model server that was connected before. Its key is in the worker, in the vault, or gone with an earlier visit. */
export type Connection = v.InferOutput<typeof Connection>;

export interface Settings {
  readonly choice: ReadonlySignal<ModelChoice>;
  /** The model servers that were connected, the latest first. */
  readonly connections: ReadonlySignal<readonly Connection[]>;
  /** The Pinnace servers that were connected, the latest first. */
  readonly servers: ReadonlySignal<readonly string[]>;
  /** Uses a model of a known connection, without its key being entered again. Returns false when the worker has no key for it. */
  useModel(model: ServerModel): Promise<boolean>;
  /** The models of a known connection, or whether one of them answers. */
  ask(asked: { readonly baseUrl: string; readonly model?: string }): Promise<ServerAnswer>;
  /** The model whose server the dialog is to connect; the dialog clears it. */
  readonly prefill: Signal<ServerModel | undefined>;
  /** Forgets a connection and its recent models; its key stays where it is. */
  forget(baseUrl: string): void;
  /** Takes up the choice of the last visit. */
  restore(): Promise<void>;
  useRehearsal(): Promise<void>;
  /** Has the browser's own model answer, which must be ready. */
  useBrowser(): Promise<void>;
  /** Passes the endpoint to the worker. The page does not retain the key. */
  useEndpoint(endpoint: Endpoint): Promise<void>;
  /** Has the agents run by a Pinnace endpoint. Rejects, and changes nothing, when this page cannot be certified for it. */
  usePinnace(url: string): Promise<void>;
}

export interface SettingsOptions {
  readonly control: Pick<RemoteControl, 'useEndpoint' | 'useModel' | 'askServer' | 'connectedEndpoint'>;
  readonly notes: Notes;
  /** Connects to a Pinnace endpoint. */
  readonly connect: (url: string) => Promise<void>;
  /** Connects the worker with the browser's model. */
  readonly serveBrowser: () => Promise<void>;
}

const RememberedModel = v.object({ type: v.literal('browser') });
const RememberedUrl = v.object({ url: v.string() });
const Remembered = v.object({
  baseUrl: v.string(),
  model: v.string(),
  keyless: v.boolean(),
  inVault: v.optional(v.boolean()),
});

const Connection = v.object({
  baseUrl: v.string(),
  keyless: v.boolean(),
  inVault: v.boolean(),
  /** The models that were used, the latest first. */
  models: v.array(v.string()),
});
const mostConnections = 8;
const mostRecent = 5;

/** Creates the settings, at first the rehearsal model. */
export function createSettings({ control, notes, connect, serveBrowser }: SettingsOptions): Settings {
  const choice = signal<ModelChoice>({ type: 'rehearsal' });
  const connections = signal(notes.read('connections', v.array(Connection)) ?? []);
  const servers = signal(notes.read('servers', v.array(v.string())) ?? []);
  const remember = (chosen: ModelChoice): void => {
    if (chosen.type === 'pinnace') {
      servers.value = [chosen.url, ...servers.value.filter((url) => url !== chosen.url)].slice(0, mostConnections);
      notes.write('servers', servers.value);
    }
    if (chosen.type !== 'endpoint') return;
    const { baseUrl, keyless, inVault = false, model } = chosen;
    const before = connections.value.find((known) => known.baseUrl === baseUrl)?.models ?? [];
    const models = [model, ...before.filter((other) => other !== model)].slice(0, mostRecent);
    const others = connections.value.filter((known) => known.baseUrl !== baseUrl);
    connections.value = [{ baseUrl, keyless, inVault, models }, ...others].slice(0, mostConnections);
    notes.write('connections', connections.value);
  };
  const choose = (chosen: ModelChoice): void => {
    remember(chosen);
    notes.write('pinnace', chosen.type === 'pinnace' ? { url: chosen.url } : undefined);
    notes.write('model', chosen.type === 'browser' ? { type: 'browser' } : undefined);
    notes.write('endpoint', chosen.type === 'endpoint' ? storedOf(chosen) : undefined);
    choice.value = chosen;
  };
  return {
    choice,
    connections,
    servers,
    prefill: signal(undefined),
    async ask(asked) {
      const { keyless = false } = connections.value.find(({ baseUrl }) => baseUrl === asked.baseUrl) ?? {};
      return await control.askServer({ ...asked, keyless });
    },
    async useModel(model) {
      const known = connections.value.find(({ baseUrl }) => baseUrl === model.baseUrl);
      if (known?.keyless) await control.useEndpoint(model);
      else if (!known || !await control.useModel(model)) return false;
      choose({
        type: 'endpoint',
        ...model,
        keyless: known.keyless,
        locked: false,
        ...(known.inVault && { inVault: true }),
      });
      return true;
    },
    forget(baseUrl) {
      connections.value = connections.value.filter((known) => known.baseUrl !== baseUrl);
      servers.value = servers.value.filter((url) => url !== baseUrl);
      notes.write('connections', connections.value);
      notes.write('servers', servers.value);
    },
    async restore() {
      const pinnace = notes.read('pinnace', RememberedUrl);
      if (pinnace) choice.value = { type: 'pinnace', url: pinnace.url };
      if (pinnace) remember(choice.value);
      if (!pinnace && notes.read('model', RememberedModel)) {
        await serveBrowser();
        choice.value = { type: 'browser' };
        return;
      }
      const remembered = pinnace ? undefined : notes.read('endpoint', Remembered);
      if (!remembered) return;
      remember({ type: 'endpoint', ...remembered, locked: false });
      const { baseUrl, model, keyless } = remembered;
      // A worker that outlasted a reload still has the key.
      const used = keyless ? undefined : await control.connectedEndpoint();
      const locked = !keyless && (used?.baseUrl !== baseUrl || used.model !== model);
      if (keyless) await control.useEndpoint({ baseUrl, model });
      choice.value = { type: 'endpoint', ...remembered, locked };
    },
    async useRehearsal() {
      await control.useEndpoint(undefined);
      choose({ type: 'rehearsal' });
    },
    async useBrowser() {
      await serveBrowser();
      choose({ type: 'browser' });
    },
    async useEndpoint(endpoint) {
      await control.useEndpoint(endpoint);
      const { baseUrl, model, apiKey, secretId } = endpoint;
      const inVault = secretId !== undefined;
      const keyless = apiKey === undefined && !inVault;
      choose({ type: 'endpoint', baseUrl, model, keyless, locked: false, ...(inVault && { inVault }) });
    },
    async usePinnace(url) {
      await connect(url);
      await control.useEndpoint(undefined);
      choose({ type: 'pinnace', url });
    },
  };
}

/** The server whose models answer, where it has several. */
export function modelPlaceOf(choice: ModelChoice): string | undefined {
  if (choice.type === 'endpoint') return choice.baseUrl;
  return choice.type === 'pinnace' ? choice.url : undefined;
}

/** The model in the badge's words, or another one of its server. */
export function modelLabel(choice: ModelChoice, model?: string): string {
  if (choice.type === 'pinnace') return hostOf(choice.url);
  if (choice.type === 'browser') return 'Browser’s built-in model';
  return choice.type === 'rehearsal' ? scriptedLabel : `${hostOf(choice.baseUrl)} · ${model ?? choice.model}`;
}

/** The Pinnace endpoint that is chosen, if one is. */
export function endpointOf(choice: ModelChoice): string | undefined {
  return choice.type === 'pinnace' ? choice.url : undefined;
}

function storedOf({ baseUrl, model, keyless, inVault }: Extract<ModelChoice, { type: 'endpoint' }>): unknown {
  return { baseUrl, model, keyless, ...(inVault && { inVault }) };
}

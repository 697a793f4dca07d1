/** Who answers, and what of that choice is remembered: address and model, never the key. */

import { type ReadonlySignal, signal } from '@preact/signals';
import * as v from 'valibot';
import type { AgentCard, Endpoint, PlanSteering } from '../../app/worker/control.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import type { Notes } from '../../app/state/notes.ts';
import { scriptedLabel } from './model-name.ts';

/** The worker's control interface as the page calls it. */
export interface RemoteControl {
  agents(): Promise<readonly AgentCard[]>;
  useEndpoint(endpoint: Endpoint | undefined): Promise<void>;
  connectedEndpoint(): Promise<Pick<Endpoint, 'baseUrl' | 'model'> | undefined>;
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
    /** The key is in the vault. */
    readonly inVault?: boolean | undefined;
  }
  | { readonly type: 'pinnace'; readonly url: string };

/** The model settings. */
export interface Settings {
  readonly choice: ReadonlySignal<ModelChoice>;
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

/** What the settings work on. */
export interface SettingsOptions {
  readonly control: Pick<RemoteControl, 'useEndpoint' | 'connectedEndpoint'>;
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

/** Creates the settings, at first the rehearsal model. */
export function createSettings({ control, notes, connect, serveBrowser }: SettingsOptions): Settings {
  const choice = signal<ModelChoice>({ type: 'rehearsal' });
  const choose = (chosen: ModelChoice): void => {
    notes.write('pinnace', chosen.type === 'pinnace' ? { url: chosen.url } : undefined);
    notes.write('model', chosen.type === 'browser' ? { type: 'browser' } : undefined);
    notes.write('endpoint', chosen.type === 'endpoint' ? storedOf(chosen) : undefined);
    choice.value = chosen;
  };
  return {
    choice,
    async restore() {
      const pinnace = notes.read('pinnace', RememberedUrl);
      if (pinnace) choice.value = { type: 'pinnace', url: pinnace.url };
      if (!pinnace && notes.read('model', RememberedModel)) {
        await serveBrowser();
        choice.value = { type: 'browser' };
        return;
      }
      const remembered = pinnace ? undefined : notes.read('endpoint', Remembered);
      if (!remembered) return;
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

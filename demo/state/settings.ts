/** Which model answers, and what of that choice is remembered: address and model, never the key. */

import { type ReadonlySignal, signal } from '@preact/signals';
import * as v from 'valibot';
import type { AgentCard, Endpoint } from '../control.ts';
import { hostOf } from './endpoint.ts';
import type { Notes } from './notes.ts';

/** The worker's control interface as the page calls it. */
export interface RemoteControl {
  agents(): Promise<readonly AgentCard[]>;
  useEndpoint(endpoint: Endpoint | undefined): Promise<void>;
}

/** The model in use. `locked`: the endpoint had a key, which is not kept; it has to be entered again. */
export type ModelChoice =
  | { readonly type: 'rehearsal' }
  | {
    readonly type: 'endpoint';
    readonly baseUrl: string;
    readonly model: string;
    readonly keyless: boolean;
    readonly locked: boolean;
  };

/** The model settings. */
export interface Settings {
  readonly choice: ReadonlySignal<ModelChoice>;
  /** Takes up the choice of the last visit. */
  restore(): Promise<void>;
  useRehearsal(): Promise<void>;
  /** Hands the endpoint to the worker. The key is forgotten here when this returns. */
  useEndpoint(endpoint: Endpoint): Promise<void>;
}

const Remembered = v.object({ baseUrl: v.string(), model: v.string(), keyless: v.boolean() });

/** Gives the settings, at first the rehearsal model. */
export function createSettings({ control, notes }: { control: RemoteControl; notes: Notes }): Settings {
  const choice = signal<ModelChoice>({ type: 'rehearsal' });
  return {
    choice,
    async restore() {
      const remembered = notes.read('endpoint', Remembered);
      if (!remembered) return;
      const { baseUrl, model, keyless } = remembered;
      if (keyless) await control.useEndpoint({ baseUrl, model });
      choice.value = { type: 'endpoint', baseUrl, model, keyless, locked: !keyless };
    },
    async useRehearsal() {
      await control.useEndpoint(undefined);
      notes.write('endpoint', undefined);
      choice.value = { type: 'rehearsal' };
    },
    async useEndpoint(endpoint) {
      await control.useEndpoint(endpoint);
      const { baseUrl, model } = endpoint;
      const keyless = endpoint.apiKey === undefined;
      notes.write('endpoint', { baseUrl, model, keyless });
      choice.value = { type: 'endpoint', baseUrl, model, keyless, locked: false };
    },
  };
}

/** The model in the badge's words. */
export function modelLabel(choice: ModelChoice): string {
  return choice.type === 'rehearsal' ? 'rehearsal' : `${hostOf(choice.baseUrl)} · ${choice.model}`;
}

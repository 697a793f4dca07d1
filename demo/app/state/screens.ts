/** The pages over the chat: what each shows, and that only one is open. */

import { effect, type Signal, untracked } from '@preact/signals';
import type { EvalsControl } from '../../evals/worker/control.ts';
import type { InspectorControl } from '../../inspector/worker/control.ts';
import type { Transport } from '../../chat/state/run.ts';
import type { KnowledgeControl } from '../../knowledge/worker/control.ts';
import type { KnowledgePlace } from '../../knowledge/worker/place.ts';
import type { ConnectedTransports } from './transports.ts';

/** What covers the chat: creating an agent, or viewing an agent or a chat from a link. */
export type Workshop =
  | { readonly type: 'builder' }
  | { readonly type: 'link' | 'shared'; readonly hash: string };

/** Whether the knowledge is shown, what of it, and the way to it. */
export interface KnowledgeAccess {
  readonly isShown: Signal<boolean>;
  /** The file that is open. */
  readonly at: Signal<readonly string[]>;
  /** The place to open; the reader clears it. */
  readonly wanted: Signal<KnowledgePlace | undefined>;
  readonly connect: () => KnowledgeControl;
}

/** What the inspector shows, if anything, and the ways to runs: those of this page, and those at endpoints. */
export interface InspectorAccess {
  readonly shown: Signal<InspectorPlace | undefined>;
  readonly connect: () => InspectorControl;
  /** The test cases of this page. */
  readonly evals: () => EvalsControl;
  readonly runAt: ConnectedTransports['runAt'];
  /** The way to the runs of an endpoint, or of this page. */
  readonly to: (via: string | undefined) => Transport;
}

/** What the inspector shows: a run, or the list of them; the trace `evals` stands for the test cases. */
export interface InspectorPlace {
  readonly traceId?: string | undefined;
  /** The plan that it follows; then the run that started the plan is shown. */
  readonly planId?: string | undefined;
  /** The endpoint that the run was at; without one, this page's worker. */
  readonly via?: string | undefined;
  /** What of the run is shown; its timeline, when absent. */
  readonly tab?: string | undefined;
  /** The fork that is shown beside the run, by its id. */
  readonly fork?: string | undefined;
  /** Whether it was opened from the list, to which going back leads. */
  readonly isListed?: boolean;
}

/** A page over the chat. */
interface Over {
  readonly isOn: () => boolean;
  readonly hide: () => void;
}

interface Screens {
  readonly registry: { readonly isShown: Signal<boolean> };
  readonly privacy: { readonly isShown: Signal<boolean> };
  readonly workshop: Signal<Workshop | undefined>;
  readonly inspector: Pick<InspectorAccess, 'shown'>;
  readonly console: { readonly isShown: Signal<boolean> };
}

/** Hides the other screens when one is opened. The console stays open below a run, and is visible again when the run is closed. */
export function showOneScreen(
  { registry, privacy, workshop, inspector, console }: Screens,
): void {
  const runs: Over = {
    isOn: () => inspector.shown.value !== undefined,
    hide: () => (inspector.shown.value = undefined),
  };
  const desk: Over = { isOn: () => console.isShown.value, hide: () => (console.isShown.value = false) };
  const over: readonly Over[] = [
    { isOn: () => registry.isShown.value, hide: () => (registry.isShown.value = false) },
    { isOn: () => privacy.isShown.value, hide: () => (privacy.isShown.value = false) },
    { isOn: () => workshop.value !== undefined, hide: () => (workshop.value = undefined) },
    runs,
    desk,
  ];
  for (const screen of over) {
    const others = over.filter((other) => other !== screen && !(screen === runs && other === desk));
    effect(() => {
      if (screen.isOn()) untracked(() => others.forEach((other) => other.hide()));
    });
  }
}

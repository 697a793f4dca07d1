/** What the page does once it is there and idle. */

import { effect } from '@preact/signals';
import { modelContext } from '../../../adapters/webmcp/model-context.ts';
import type { AssistantMessage } from '../../chat/state/message.ts';
import { planToFollow } from '../../chat/state/plan.ts';
import { keepOffline } from '../../offline/state/keep-offline.ts';
import { listenToTabs } from '../../privacy/state/tabs.ts';
import { openQuestions } from '../../plan/state/plan-data.ts';
import type { Playground } from './playground.ts';

const startedAt = Date.now();

/** How long a tab that was answered in may take to go on by itself. */
const afterMs = 1000;

/** Follows the plan of an answer, unless another tab does. Whether it does: not in a chat that was left meanwhile. */
async function goOn(playground: Playground, answer: AssistantMessage): Promise<boolean> {
  if (await playground.chatStore.tabs.isHeld(answer.id)) return false;
  const isShown = playground.chats.current.value.messages.value.at(-1) === answer;
  if (!isShown || answer.outcome.value.type !== 'waiting' || !planToFollow(answer)) return false;
  playground.retry();
  return true;
}

/** A plan whose questions were answered elsewhere goes on in its chat: in the inbox, in another tab, by another person. */
function followPlans(playground: Playground): void {
  const { chats, waiting } = playground;
  const followed = new Set<string>();
  effect(() => {
    const { messages, loaded } = chats.current.value;
    const last = loaded.value === 'ready' ? messages.value.at(-1) : undefined;
    const outcome = last?.role === 'assistant' ? last.outcome.value : undefined;
    const plan = last?.role === 'assistant' && outcome?.type === 'waiting' ? planToFollow(last) : undefined;
    if (!plan || last?.role !== 'assistant' || outcome?.type !== 'waiting') return;
    const asks = openQuestions(plan).map(({ ask }) => ask).filter((ask) => !followed.has(ask));
    const how = { via: last.via, isEarlier: outcome.endedAt < startedAt };
    if (asks.length === 0 || !asks.every((ask) => waiting.isClosed(ask, how))) return;
    for (const ask of asks) followed.add(ask);
    const mayGoOnLater = (): void => asks.forEach((ask) => followed.delete(ask));
    setTimeout(() => void goOn(playground, last).then((goes) => goes || mayGoOnLater()), afterMs);
  });
}

/** Listens to other tabs, gives the worker the page's tools and installs the service worker. */
export async function settleIn(playground: Playground): Promise<void> {
  const { offline, quiet, webmcp } = playground;
  followPlans(playground);
  listenToTabs({ quiet, reload: () => location.replace(location.pathname + location.search) });
  const pageTools = modelContext() && import('../../webmcp/state/page-tools.ts');
  await pageTools?.then(({ connectPageTools }) => connectPageTools(webmcp)).catch(() => undefined); // the server of the page is unavailable then
  if (import.meta.env.PINNACE_OFFLINE) await keepOffline(offline);
}

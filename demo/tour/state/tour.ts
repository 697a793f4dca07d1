/** The tour: which stop is open, how far it is, and what the visitor can do there. */

import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import type { Activity } from '../../control/tree-control.ts';
import type { Chat } from '../../chat/state/chat.ts';
import type { AssistantMessage } from '../../chat/state/message.ts';
import type { Playground } from '../../app/state/playground.ts';
import { isCovered, showBeside } from '../../app/state/screens.ts';
import { readTour, type TourNote, writeTour } from './tour-notes.ts';
import type { Progress } from './progress.ts';
import { progressOf, stops, type TourStop } from './stops.ts';

/** The tour's state, and what can be done in it. */
export interface Tour {
  /** From 0; as many as there are stops: the end. */
  readonly at: ReadonlySignal<number>;
  readonly stop: ReadonlySignal<TourStop | undefined>;
  readonly progress: ReadonlySignal<Progress>;
  /** The stops where the real thing has happened. */
  readonly visited: ReadonlySignal<ReadonlySet<string>>;
  /** Why nothing can be sent: another model is connected, or the agent was removed. */
  readonly obstacle: ReadonlySignal<'model' | 'agent' | undefined>;
  /** The run of the open stop, as the inspector finds it. */
  readonly traced: ReadonlySignal<{ readonly traceId: string; readonly planId: string | undefined } | undefined>;
  /** Whether the chat of the open stop is on the page. */
  readonly isInSight: ReadonlySignal<boolean>;
  /** The tour's chats that still exist. */
  readonly chats: ReadonlySignal<readonly Chat[]>;
  /** Sends the stop's message in a chat of its own. */
  start(): void;
  /** Performs the stop's action for the visitor. */
  act(): void;
  /** Opens the chat of the stop again. */
  comeBack(): void;
  goTo(at: number): void;
  startAgain(): void;
  removeChats(): Promise<void>;
  leave(): void;
}

interface TourOptions {
  readonly playground: Playground;
  /** What was done to the tree last. */
  readonly latest: () => Activity | undefined;
  /** Puts away what lies over the chat. */
  readonly uncover: () => void;
}

/** Creates the tour as the last visit has left it. */
export function createTour({ playground, latest, uncover }: TourOptions): Tour {
  const { chats, settings, knowledge } = playground;
  const { notes } = playground.tour;
  const note = signal<TourNote>(readTour(notes) ?? { at: 0, chats: {}, seen: [] });
  /** The tree's last change when the stop started. */
  const treeFrom = signal(0);
  effect(() => writeTour(notes, note.value));

  const at = computed(() => note.value.at);
  const stop = computed(() => stops[at.value]);
  const chatOf = (id: string): Chat | undefined => {
    const chatId = note.value.chats[id];
    return chatId === undefined ? undefined : chats.list.value.find((chat) => chat.id === chatId);
  };
  const chat = computed(() => stop.value && chatOf(stop.value.id));
  const progress = computed((): Progress => {
    const answer = chat.value && lastAnswer(chat.value);
    if (!stop.value || !answer || !chat.value) return { type: 'ready', say: stop.value?.before ?? '' };
    const activity = latest();
    return progressOf(stop.value, {
      answer,
      run: chat.value.run.value,
      isReading: knowledge.isShown.value && !isCovered(playground),
      activity: activity && activity.rev > treeFrom.value ? activity : undefined,
      wasPulled: note.value.pulled === chat.value.id,
    });
  });
  const visited = computed(() => new Set(note.value.seen));
  // What has happened stays so, also when the page is changed afterwards.
  effect(() => {
    const id = stop.value?.id;
    if (id === undefined || progress.value.type !== 'done') return;
    untracked(() => {
      if (!visited.value.has(id)) note.value = { ...note.value, seen: [...note.value.seen, id] };
    });
  });

  const traced = computed(() => {
    const answer = chat.value && lastAnswer(chat.value);
    const traceId = answer?.facts.value.run?.traceId;
    const planned = answer?.parts.value.findLast((part) => part.type === 'plan');
    return traceId === undefined ? undefined : { traceId, planId: planned?.planId };
  });

  function show({ beside }: TourStop): void {
    uncover();
    playground.overlay.value = 'none';
    showBeside(playground, beside ?? 'tree', beside !== undefined);
  }

  function act(): void {
    const run = chat.value?.run.value;
    switch (progress.value.act) {
      case 'leave':
        return run?.leave();
      case 'read-on':
        return run?.readOn();
      case 'pull':
        note.value = { ...note.value, pulled: chat.value?.id };
        return playground.crash('#/tour');
    }
  }

  effect(() => {
    if (progress.value.isDue) untracked(act);
  });

  function goTo(next: number): void {
    note.value = { ...note.value, at: Math.max(0, Math.min(stops.length, next)) };
    const opened = untracked(() => chat.value);
    if (!stop.value) return;
    if (opened) void chats.open(opened.id);
    show(stop.value);
  }

  return {
    at,
    stop,
    progress,
    visited,
    traced,
    obstacle: computed(() => {
      if (!stop.value || chat.value) return undefined;
      if (settings.choice.value.type !== 'rehearsal') return 'model';
      return playground.agents.some(({ id }) => id === stop.value?.agentId) ? undefined : 'agent';
    }),
    isInSight: computed(() => chat.value === undefined || chat.value === chats.current.value),
    chats: computed(() => stops.flatMap(({ id }) => chatOf(id) ?? [])),
    start() {
      const { value: here } = stop;
      if (!here) return;
      show(here);
      treeFrom.value = latest()?.rev ?? 0;
      chats.start(here.agentId);
      // A chat where nothing was said yet is taken as it is.
      if (!playground.send(here.text)) return;
      const { id } = chats.current.value;
      const others = note.value.seen.filter((stopId) => stopId !== here.id);
      note.value = { ...note.value, chats: { ...note.value.chats, [here.id]: id }, seen: others };
    },
    act,
    comeBack: () => goTo(at.value),
    goTo,
    startAgain() {
      note.value = { at: 0, chats: {}, seen: [] };
      goTo(0);
      chats.start();
    },
    async removeChats() {
      const all = stops.flatMap(({ id }) => chatOf(id) ?? []);
      for (const { id } of all) await chats.remove(id);
      note.value = { ...note.value, chats: {} };
    },
    leave: () => void (playground.tour.isShown.value = false),
  };
}

function lastAnswer({ messages }: Chat): AssistantMessage | undefined {
  const last = messages.value.at(-1);
  return last?.role === 'assistant' ? last : undefined;
}

/** Runs in chats: each fills an answer and is stored while it runs. */

import { batch, computed, effect, untracked } from '@preact/signals';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { PlanSteering } from '../../control/page-control.ts';
import { keepAddress, type StoredAttachment } from '../../files/state/attached-file.ts';
import type { Schedule } from '../../kit/hooks/frame-queue.ts';
import { openQuestions, type PlanPart, type PlanQuestion } from '../../plan/state/plan-data.ts';
import { type Answer, answerQuestion } from '../../plan/state/plan-reply.ts';
import { canGoOn, decideCall, isDecidedHere, waitingCalls } from './approval.ts';
import { requestFields } from './chat-settings.ts';
import type { ChatStore, Saved } from './chat-storage.ts';
import { afterLast, append, type Chat, headOf, type Run } from './chat.ts';
import { type AssistantMessage, createAnswer, isCutOff, type Message, type ToolPart } from './message.ts';
import { cancelPlan, planOf, planToFollow } from './plan.ts';
import { type Join, type PlanTerms, startRun, type Transport } from './run.ts';
import { toWireMessages } from './wire-messages.ts';

/** Where runs go: the page's worker, or an endpoint by its address. */
export interface Transports {
  /** The endpoint that is chosen; `undefined`: the worker. */
  chosen(): string | undefined;
  /** The way to an endpoint, or to the worker. What cannot be reached rejects when it is used. */
  to(endpoint: string | undefined): Transport;
}

/** What runs need. */
export interface ChatRunsOptions {
  readonly transports: Transports;
  readonly chatStore: ChatStore;
  /** Whether runs of this agent plan. */
  readonly isPlanner: (agentId: string) => boolean;
  /** Does something with a plan of the page's worker. */
  readonly steerPlan: (planId: string, how: PlanSteering) => Promise<void>;
  /** Names the model in use, or this one of its server. */
  readonly modelLabel: (model?: string) => string;
  /** The server of the models in use, which the settings of a chat name with a model. */
  readonly modelPlace: () => string | undefined;
  readonly now: () => number;
  readonly createId: () => string;
  readonly schedule?: Schedule;
}

/** Starts runs and stores their answers. */
export interface ChatRuns {
  /** Requests an answer to the shown messages; of all messages, those from `from` on are not stored yet. `dropped`: the previous answer. */
  ask(chat: Chat, from: number, place?: { readonly after: string | undefined; readonly dropped?: string }): void;
  /** Goes on with the last answer, whose calls have been decided or whose plan has not ended. Returns whether there was something to go on with. */
  goOn(chat: Chat): boolean;
  /** Joins the run of the last answer, where a reload has cut it off; a plan of the page that has outlived its run is followed by a new one. */
  rejoin(chat: Chat): void;
  /** Decides on a call of the last answer, and goes on when it was the last one that waited. `send` replaces the sending of an approval. */
  decide(chat: Chat, part: ToolPart, decision: Decision, send?: () => Promise<void>): Promise<void>;
  /** Answers a question of the last answer's plan, and shows how it goes on. `send` replaces the sending, as for `decide`. */
  reply(chat: Chat, question: PlanQuestion, answer: SentAnswer): Promise<void>;
  /** Pauses the last answer's plan, lets it go on, or cancels it. Does nothing with plans of endpoints, and with those that have ended. */
  steer(chat: Chat, how: PlanSteering): Promise<void>;
  /** Withdraws the last answer's questions: its calls are not made, its plan is cancelled. Returns whether it had any. */
  dismiss(chat: Chat): boolean;
  /** Writes a message of the chat, by default the last one. */
  save(chat: Chat, message?: Message): Promise<void>;
  /** Whether the answer is being written here and is not fully stored yet. */
  isOurs(answerId: string): boolean;
}

/** What the runs of chats use. */
interface RunParts extends Omit<ChatRunsOptions, 'schedule'> {
  readonly saving: AnswerSaving;
  readonly isStored: (chat: Chat) => boolean;
  readonly start: (chat: Chat, answer: AssistantMessage, how: StartTerms) => void;
  readonly goOn: (chat: Chat) => boolean;
}

/** An answer, and how it is sent where that is not the chat's way. */
interface SentAnswer extends Answer {
  readonly send?: (value: unknown) => Promise<void>;
}

interface StartTerms {
  readonly planner?: PlanTerms | undefined;
  readonly join?: Join;
}

/** Creates the runs of chats; one that is not `isStored` any more has been deleted meanwhile. */
export function createChatRuns(
  options: ChatRunsOptions & {
    isStored: (chat: Chat) => boolean;
    onSaved: (chat: Chat, saved: Saved) => Promise<void>;
  },
): ChatRuns {
  const { transports, chatStore, isStored } = options;
  const saving = createAnswerSaving(options);

  /** Stores the address of a sent file in its message, in place of its bytes. */
  function keepFile(chat: Chat, stored: StoredAttachment, via: string | undefined): void {
    const message = chat.messages.value.findLast(({ id }) => id === stored.messageId);
    if (message?.role !== 'user') return;
    keepAddress(message, stored, via);
    if (isStored(chat)) void saving.save(chat, message);
  }

  function start(chat: Chat, answer: AssistantMessage, { planner, join }: StartTerms): void {
    const isNew = !chat.all.value.includes(answer);
    if (isNew) append(chat, answer);
    const messages = toWireMessages(isNew ? chat.messages.value.slice(0, -1) : chat.messages.value);
    if (!join) answer.runFrom.value = answer.parts.value.length;
    const run = startRun({
      ...options,
      transport: transports.to(answer.via),
      chatId: chat.id,
      agentId: chat.agentId.value,
      messages,
      answer,
      planner,
      fields: requestFields(chat.settings.value, { at: options.modelPlace(), plans: planner !== undefined }),
      join,
      onStored: (stored) => keepFile(chat, stored, answer.via),
    });
    chat.run.value = run;
    chatStore.tabs.hold(answer.id, saving.follow(chat, answer, run));
  }

  function goOn(chat: Chat): boolean {
    const answer = lastAnswer(chat.messages.value);
    if (!answer || answer.outcome.value.type === 'running') return false;
    const plan = planToFollow(answer);
    if (!plan && !canGoOn(answer)) return false;
    answer.outcome.value = { type: 'running' };
    start(chat, answer, { planner: plan && { planId: plan.planId } });
    return true;
  }

  const parts = { ...options, saving, start, goOn };
  return {
    save: (chat, message) => saving.save(chat, message),
    isOurs: saving.isOurs,
    goOn,
    ...starting(parts),
    ...calls(parts),
    ...plans(parts),
  };
}

/** Starts runs, and joins those that go on. */
function starting(
  { transports, saving, start, goOn, isStored, ...options }: RunParts,
): Pick<ChatRuns, 'rejoin' | 'ask'> {
  const { modelLabel, modelPlace, now, createId, isPlanner } = options;
  return {
    rejoin(chat) {
      const answer = lastAnswer(chat.messages.value);
      const runId = answer?.facts.value.run?.runId;
      if (!answer || runId === undefined || !isCutOff(answer) || saving.isOurs(answer.id)) return;
      answer.outcome.value = { type: 'running' };
      start(chat, answer, { join: { runId, onStart: () => forgetRun(answer) } });
      void chat.run.value?.ended.then(() => isLeft(answer) && isStored(chat) && goOn(chat));
    },
    ask(chat, from, { after, dropped } = { after: afterLast(chat) }) {
      const via = transports.chosen();
      const { model } = chat.settings.value;
      const label = modelLabel(model?.at === modelPlace() ? model?.id : undefined);
      const answer = createAnswer({ id: createId(), model: label, startedAt: now(), via, after });
      start(chat, answer, isPlanner(chat.agentId.value) ? { planner: { allowHumanIntervention: true } } : {});
      void saving.saveFrom(chat, { from, dropped });
    },
  };
}

/** Decides on the calls of answers. */
function calls(
  { transports, saving, isStored, steerPlan, goOn }: RunParts,
): Pick<ChatRuns, 'dismiss' | 'decide'> {
  return {
    dismiss(chat) {
      const answer = lastAnswer(chat.messages.value);
      if (!answer) return false;
      const [waiting, plan] = [waitingCalls(answer), planToFollow(answer)];
      batch(() => {
        for (const { call } of waiting) call.value = { ...call.value, state: 'undecided' };
        if (plan && answer.via === undefined) cancelPlan(answer);
      });
      // One that cannot be cancelled ends at its deadline.
      if (plan && answer.via === undefined) void steerPlan(plan.planId, 'cancel').catch(() => undefined);
      return waiting.length > 0 || plan !== undefined;
    },
    async decide(chat, part, decision, send) {
      const answer = lastAnswer(chat.messages.value);
      if (!answer || !waitingCalls(answer).includes(part)) return;
      const transport = transports.to(answer.via);
      await decideCall(part, { decision, send: send ?? (({ runId, id }) => transport.decide(runId, id, decision)) });
      if (!isStored(chat) || lastAnswer(chat.messages.value) !== answer) return;
      void saving.save(chat, answer);
      if (isDecidedHere(answer)) goOn(chat);
    },
  };
}

/** Steers the plans of answers. */
function plans(
  { transports, saving, isStored, steerPlan, goOn, now }: RunParts,
): Pick<ChatRuns, 'steer' | 'reply'> {
  return {
    async steer(chat, how) {
      const answer = lastAnswer(chat.messages.value);
      const plan = answer?.via === undefined ? answer && planToFollow(answer) : undefined;
      if (!answer || !plan) return;
      await steerPlan(plan.planId, how);
      // A paused plan comes to rest, and its run has ended: the next one follows it.
      if (how === 'resume' && isStored(chat) && lastAnswer(chat.messages.value) === answer) goOn(chat);
      if (how !== 'cancel' || isWriting(answer)) return;
      batch(() => {
        cancelPlan(answer);
        answer.outcome.value = { type: 'stopped', by: 'person', endedAt: now() };
      });
      if (isStored(chat)) await saving.save(chat, answer);
    },
    async reply(chat, question, { send, ...said }) {
      const answer = lastAnswer(chat.messages.value);
      const plan = answer && planOf(answer);
      const runId = answer?.facts.value.run?.runId;
      if (!answer || !plan || runId === undefined) return;
      const transport = transports.to(answer.via);
      const reply = (value: unknown): Promise<void> => transport.reply(runId, { askId: question.ask, answer: value });
      const goesOn = await answerQuestion(plan, question, { answer: said, send: send ?? reply });
      if (isStored(chat)) void saving.save(chat, answer);
      // The run may be ending because of this question. Its last state then shows the plan before the answer.
      if (goesOn && isWriting(answer)) await chat.run.value?.ended;
      if (!goesOn || !isStored(chat) || lastAnswer(chat.messages.value) !== answer) return;
      if (isStillOpen(plan, question)) goOn(chat);
    },
  };
}

/** Removes what the answer holds of its latest run, which is about to say it again. A plan has replies, of which the run says nothing. */
function forgetRun({ parts, facts, runFrom }: AssistantMessage): void {
  batch(() => {
    parts.value = parts.value.filter(({ type }, at) => at < runFrom.value || type === 'plan');
    if (runFrom.value === 0) facts.value = { run: facts.value.run };
    for (const part of parts.value) {
      if (part.type !== 'tool' || part.call.value.state !== 'stopped') continue;
      part.call.value = { ...part.call.value, state: 'running' };
    }
  });
}

/** Whether the plan goes on and its run does not: that has ended at a question that was answered, or was removed before the plan. */
function isLeft(answer: AssistantMessage): boolean {
  const plan = planToFollow(answer);
  if (!plan) return false;
  if (isCutOff(answer)) return answer.via === undefined;
  const isWaiting = answer.outcome.value.type === 'waiting';
  return isWaiting && !plan.view.value.paused && openQuestions(plan).length === 0;
}

function isWriting({ outcome }: AssistantMessage): boolean {
  return outcome.value.type === 'running';
}

/** Whether the plan as it is shown has yet to take the answer. */
function isStillOpen({ view }: PlanPart, { ask }: PlanQuestion): boolean {
  return view.value.questions.some((open) => open.ask === ask);
}

function lastAnswer(messages: readonly Message[]): AssistantMessage | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last : undefined;
}

/** How often an answer is written while it is streamed. */
export const saveEveryMs = 3000;

/** Stores the messages of chats. */
interface AnswerSaving {
  /** Writes the messages from one index to another. `dropped` is the id of a message to remove. */
  saveFrom(chat: Chat, what: { from: number; to?: number; dropped?: string | undefined }): Promise<void>;
  /** Writes one message, or the last one. */
  save(chat: Chat, message?: Message): Promise<void>;
  /** Stores the answer while it grows and when it has ended. */
  follow(chat: Chat, answer: AssistantMessage, run: Run): Promise<void>;
  /** Whether the answer is being written here and is not fully stored yet. */
  readonly isOurs: (answerId: string) => boolean;
}

interface AnswerSavingOptions {
  readonly chatStore: ChatStore;
  readonly now: () => number;
  readonly isStored: (chat: Chat) => boolean;
  readonly onSaved: (chat: Chat, saved: Saved) => Promise<void>;
}

/** Creates the storing of answers. */
function createAnswerSaving({ chatStore, now, isStored, onSaved }: AnswerSavingOptions): AnswerSaving {
  const ours = new Map<string, Run>();

  const saveFrom: AnswerSaving['saveFrom'] = async (chat, what) =>
    await onSaved(chat, await chatStore.save(headOf(chat), { messages: chat.all.value, ...what }));

  function save(chat: Chat, message?: Message): Promise<void> {
    const found = chat.all.value.lastIndexOf(message ?? chat.messages.value.at(-1) as Message); // -1 without one
    return saveFrom(chat, { from: Math.max(0, found), to: found + 1 });
  }

  return {
    saveFrom,
    save,
    isOurs: (answerId) => ours.has(answerId),
    async follow(chat, answer, run) {
      ours.set(answer.id, run);
      const timer = setInterval(() => void save(chat, answer), saveEveryMs);
      const ids = computed(() => [answer.facts.value.run?.runId, planOf(answer)?.planId].join(' ').trim());
      // Runs and plans may go on without the page: their ids must not be lost with a page that is closed in its first seconds.
      const stopWatching = effect(() => {
        if (ids.value !== '') untracked(() => void save(chat, answer));
      });
      await run.ended;
      clearInterval(timer);
      stopWatching();
      chat.updatedAt.value = now();
      if (isStored(chat)) await save(chat, answer);
      if (ours.get(answer.id) === run) ours.delete(answer.id);
    },
  };
}

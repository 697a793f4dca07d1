/** `data-plan`: a plan as its runtime shows it, read once where it arrives. */

import type { Signal } from '@preact/signals';
import * as v from 'valibot';

const count = v.pipe(v.number(), v.minValue(0));

/** The state of a plan's agent. `ready`: running or about to. */
const taskStates = ['waiting', 'ready', 'done', 'failed', 'cancelled'] as const;

/** One agent of a plan. Times are milliseconds since 1970. */
const PlanTask = v.object({
  address: v.string(),
  key: v.optional(v.string()),
  goal: v.string(),
  agentId: v.optional(v.string()),
  role: v.optional(v.string()),
  status: v.picklist(taskStates),
  /** Addresses of those that it comes after. */
  after: v.optional(v.pipe(v.array(v.string()), v.readonly()), []),
  attempt: v.optional(count, 1),
  startedAt: v.number(),
  endedAt: v.optional(v.number()),
  used: v.optional(v.object({ tokens: v.optional(count, 0), cost: v.optional(count, 0) })),
  error: v.optional(v.object({ code: v.string(), retryable: v.optional(v.boolean(), false) })),
});
export type PlanTask = v.InferOutput<typeof PlanTask>;

/** A plan's question to a person. */
export const PlanQuestion = v.object({
  ask: v.string(),
  /** The address of the agent that asks. */
  agent: v.string(),
  kind: v.picklist(['question', 'approval', 'lost_call']),
  question: v.string(),
  options: v.optional(v.array(v.string())),
});
export type PlanQuestion = v.InferOutput<typeof PlanQuestion>;

export const PlanView = v.object({
  planId: v.string(),
  state: v.picklist(['new', 'running', 'suspended', 'done', 'failed', 'cancelled']),
  paused: v.optional(v.boolean(), false),
  goal: v.string(),
  seq: v.number(),
  counts: v.record(v.picklist(taskStates), count),
  tasks: v.array(PlanTask),
  /** How many agents there are that it does not show. */
  omitted: v.optional(count, 0),
  questions: v.optional(v.array(PlanQuestion), []),
  used: v.optional(
    v.object({ tokens: v.optional(count, 0), steps: v.optional(count, 0), cost: v.optional(count, 0) }),
    {},
  ),
});
export type PlanView = v.InferOutput<typeof PlanView>;

/** What the page showed at a time. */
export const PlanSnapshot = v.object({ at: v.number(), view: PlanView });
export type PlanSnapshot = v.InferOutput<typeof PlanSnapshot>;

/** A person's answer to a question of a plan, in words. */
export const PlanReply = v.object({
  question: PlanQuestion,
  said: v.string(),
  /** Whether nothing more can be answered: it arrived, or came too late. */
  isOver: v.boolean(),
  /** Why it could not be answered. */
  problem: v.optional(v.string()),
});
export type PlanReply = v.InferOutput<typeof PlanReply> & {
  /** It is on its way to the runtime. */
  readonly isPending?: boolean;
};

export interface PlanPart {
  readonly type: 'plan';
  readonly planId: string;
  readonly view: Signal<PlanView>;
  /** When the view was made, in milliseconds since 1970; 0 before the first. */
  readonly at: Signal<number>;
  /** What was answered, by the question's id. */
  readonly replies: Signal<Readonly<Record<string, PlanReply>>>;
}

/** Whether the plan has come to its end. */
export function isOver({ state }: PlanView): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

/** Whether the agent has come to its end. */
export function isEnded({ status }: PlanTask): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

/** The questions that wait for a person and have not been answered here. */
export function openQuestions({ view, replies }: PlanPart): readonly PlanQuestion[] {
  return view.value.questions.filter(({ ask }) => replies.value[ask]?.isOver !== true);
}

/** What a task is called wherever it is shown: the name that its parent gave it, else its address. */
export function nameOfTask({ key, address }: PlanTask): string {
  return key ?? address;
}

export interface TaskNode {
  readonly task: PlanTask;
  readonly children: readonly TaskNode[];
}

/** The tasks by address; one without a visible parent is at the top. */
export function treeOf(tasks: readonly PlanTask[]): readonly TaskNode[] {
  const nodes = new Map(tasks.map((task) => [task.address, { task, children: [] as TaskNode[] }]));
  const top: TaskNode[] = [];
  for (const [address, node] of nodes) {
    const parent = nodes.get(address.slice(0, Math.max(0, address.lastIndexOf('-'))));
    (parent?.children ?? top).push(node);
  }
  return top;
}

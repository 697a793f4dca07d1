/** `pinnace/planner`: plans of agents, kept as journals, and what a model needs to lead one. */

export type {
  Action,
  ActionInput,
  Budget,
  Effect,
  OnFailure,
  OnTimeout,
  Retry,
  Task,
  TaskInput,
  WaitFor,
  WaitForInput,
} from './action.ts';
export type { AuthorizeCreate, CreateFacts, Creator } from './authorize-create.ts';
export { modelAgent, type ModelSteps } from './model-agent.ts';
export type { AskFacts, PlanEvent } from './plan-event.ts';
export type { NumberedEvent } from './plan-journal.ts';
export { defaultPlanLimits, type PlanLimits } from './plan-limits.ts';
export type { PlanOutcome } from './plan-outcome.ts';
export type { PlanRequestInput } from './plan-request.ts';
export { type PlanCall, type PlanTool, planTools, readPlanCall } from './plan-tools.ts';
export type { PlanTaskView, PlanView } from './plan-view.ts';
export { createPlanner, type CreatePlannerOptions, type Planner } from './planner.ts';
export type {
  AgentContext,
  AgentTask,
  Delivered,
  InboxItem,
  PlanOwner,
  RunAgent,
  StepOutcome,
  Usage,
  ValueRef,
} from './run-agent.ts';

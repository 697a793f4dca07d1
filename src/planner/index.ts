/** `pinnace/planner`: plans of agents, stored as journals, and the tools of a model that leads one. */

export type { AuthorizeCreate, CreateFacts, Creator } from './authorize-create.ts';
export { modelAgent, type ModelSteps } from './model-agent.ts';
export { type PlanCall, type PlanTool, planTools, readPlanCall } from './model-agent.ts';
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
export type { NumberedEvent } from './plan-event.ts';
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
export type { AskFacts, PlanEvent } from './plan-event.ts';
export { defaultPlanLimits, type PlanLimits } from './plan-limits.ts';
export type { PlanRequestInput } from './plan-request.ts';
export { createPlanner } from './create-planner.ts';
export type { CreatePlannerOptions, Planner } from './planner.ts';
export type { PlanOutcome } from './planner.ts';
export type { PlanTaskView, PlanView } from './planner.ts';

/** `pinnace/planner`: plans of agents, stored as journals, and the tools of a model that leads one. */

export type { AuthorizeCreate, CreateFacts, Creator } from './decide/authorize-create.ts';
export { modelAgent, type ModelSteps } from './host/model-agent.ts';
export { type PlanCall, type PlanTool, planTools, readPlanCall } from './host/plan-tools.ts';
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
} from './host/run-agent.ts';
export type { NumberedEvent } from './journal/plan-journal.ts';
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
} from './model/action.ts';
export type { AskFacts, PlanEvent } from './model/plan-event.ts';
export { defaultPlanLimits, type PlanLimits } from './model/plan-limits.ts';
export type { PlanRequestInput } from './model/plan-request.ts';
export { createPlanner } from './create-planner.ts';
export type { CreatePlannerOptions, Planner } from './planner.ts';
export type { PlanOutcome } from './view/plan-outcome.ts';
export type { PlanTaskView, PlanView } from './view/plan-view.ts';

/** A chat's messages as the page holds them: what grows while an answer streams is a signal of its own. */

import { type Signal, signal } from '@preact/signals';
import type { AttachedFile } from '../../files/state/attached-file.ts';
import type { CitationsPart } from './run-data.ts';
import type { PlanPart } from '../../plan/state/plan-data.ts';
import type {
  AppRef,
  Approval,
  CompactionData,
  ContextData,
  ErrorShape,
  Fallback,
  LogLine,
  Need,
  RetryData,
  RunData,
  ToolFailure,
  ToolProgress,
  Usage,
} from './run-data.ts';

/** What a person wrote. */
export interface UserMessage {
  readonly role: 'user';
  readonly id: string;
  readonly text: string;
  /** Its files. Their addresses change once the runtime has stored them. */
  readonly files?: Signal<readonly AttachedFile[]> | undefined;
  /** The message that it comes after, in a chat with versions; empty: it starts the chat. */
  readonly after?: string | undefined;
}

/** What an agent answered, or is answering. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly id: string;
  /** Which model answered, in the badge's words. */
  readonly model: string;
  readonly startedAt: number;
  /** The endpoint that answered; without one, this page's worker. */
  readonly via?: string | undefined;
  readonly parts: Signal<readonly Part[]>;
  readonly outcome: Signal<Outcome>;
  readonly facts: Signal<RunFacts>;
  /** Its model is called again, until the run says something else. */
  readonly retry: Signal<Retry | undefined>;
  /** How many parts there were before its latest run: that run's log holds the rest. */
  readonly runFrom: Signal<number>;
  /** As with {@link UserMessage.after}. */
  readonly after?: string | undefined;
}

/** One entry of a chat. */
export type Message = UserMessage | AssistantMessage;

/** How an answer ended. `limited`: the run reached a limit; the text so far remains. */
export type Outcome =
  | { readonly type: 'running' }
  | { readonly type: 'done'; readonly finishReason?: string | undefined; readonly endedAt: number }
  | { readonly type: 'stopped'; readonly by: 'person' | 'page' | 'runtime'; readonly endedAt: number }
  | { readonly type: 'waiting'; readonly endedAt: number }
  | { readonly type: 'limited' | 'failed' | 'interrupted'; readonly error: ErrorShape; readonly endedAt: number };

/** The run data from the runtime. */
export interface RunFacts {
  readonly run?: RunData | undefined;
  readonly usage?: Usage | undefined;
  readonly fallback?: Fallback | undefined;
}

/** A model call that is tried again. */
export interface Retry extends RetryData {
  /** When it is tried, by this page's clock. */
  readonly dueAt: number;
}

/** One piece of an answer. */
export type Part =
  | TextPart
  | ReasoningPart
  | ToolPart
  | PlanPart
  | SourcePart
  | CitationsPart
  | FilePart
  | SteeringPart
  | CompactionPart
  | ContextPart
  | StepPart;

/** Markdown text. */
export interface TextPart {
  readonly type: 'text';
  readonly text: Signal<string>;
  readonly done: Signal<boolean>;
}

/** The model's reasoning, as far as the endpoint shows it. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: Signal<string>;
  readonly done: Signal<boolean>;
}

/** One tool call. The input's text and the log grow apart from the rest. */
export interface ToolPart {
  readonly type: 'tool';
  readonly toolCallId: string;
  readonly call: Signal<ToolCall>;
  readonly inputText: Signal<string>;
  readonly logs: Signal<readonly LogLine[]>;
}

/** A source that the model names. */
export interface SourcePart {
  readonly type: 'source';
  readonly title: string;
  readonly url?: string | undefined;
}

/** A file that the model made. */
export interface FilePart {
  readonly type: 'file';
  readonly url: string;
  readonly mediaType: string;
}

/** What the person wrote while the agent worked, where the agent read it. */
export interface SteeringPart {
  readonly type: 'steering';
  readonly id: string;
  readonly text: string;
}

/** A summary of earlier messages, where the answer has it. */
export interface CompactionPart extends CompactionData {
  readonly type: 'compaction';
  readonly id: string;
}

/** What the run was given besides the chat. */
export interface ContextPart {
  readonly type: 'context';
  readonly data: ContextData;
}

/** Where a step of the run starts. */
export interface StepPart {
  readonly type: 'step';
}

/** How far a tool call has come. */
export type ToolState =
  | 'starting'
  | 'input'
  | 'running'
  | 'waiting'
  | 'result'
  | 'error'
  | 'denied'
  | 'undecided'
  | 'stopped';

/** A tool call as its card shows it. */
export interface ToolCall {
  readonly name: string;
  readonly title?: string | undefined;
  readonly dynamic: boolean;
  readonly state: ToolState;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorText?: string | undefined;
  readonly failure?: ToolFailure | undefined;
  /** How far it is. */
  readonly progress?: ToolProgress | undefined;
  /** The approval request of the call. */
  readonly approval?: Approval | undefined;
  /** What a program has done, as `data-program` says it. */
  readonly program?: unknown;
  /** What it has quoted to the person, as `data-quoted` says it. */
  readonly quoted?: unknown;
  /** The app that shows its result. `isNew`: it has just arrived; stored calls do not have it. */
  readonly app?: AppRef & { readonly isNew?: boolean } | undefined;
  /** What its MCP server needs of the person. */
  readonly need?: Need | undefined;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

/** Who says what no model has said. */
export const runtimeName = 'Pinnace';

/** A new answer with nothing in it. */
export function createAnswer(
  { id, model, startedAt, via, after }: Pick<AssistantMessage, 'id' | 'model' | 'startedAt' | 'via' | 'after'>,
): AssistantMessage {
  return {
    role: 'assistant',
    id,
    model,
    startedAt,
    ...(via !== undefined && { via }),
    ...(after !== undefined && { after }),
    parts: signal([]),
    outcome: signal({ type: 'running' }),
    facts: signal({}),
    retry: signal(undefined),
    runFrom: signal(0),
  };
}

/** A text or reasoning part. */
export function createTextPart(type: 'text' | 'reasoning', { text = '', done = false } = {}): TextPart | ReasoningPart {
  return { type, text: signal(text), done: signal(done) };
}

/** A tool part. */
export function createToolPart(
  toolCallId: string,
  call: ToolCall,
  { inputText = '', logs = [] }: { inputText?: string; logs?: readonly LogLine[] } = {},
): ToolPart {
  return { type: 'tool', toolCallId, call: signal(call), inputText: signal(inputText), logs: signal(logs) };
}

/** The answer's text without reasoning and tools, as it is copied and read aloud. */
export function answerText(message: AssistantMessage): string {
  const texts = message.parts.value.flatMap((part) => part.type === 'text' ? [part.text.value.trim()] : []);
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Whether a tool call has come to its end. */
export function isSettled(state: ToolState): boolean {
  return state !== 'starting' && state !== 'input' && state !== 'running' && state !== 'waiting';
}

/** Whether the answer was stored unfinished and has no writer. */
export function isCutOff({ outcome: { value }, startedAt }: AssistantMessage): boolean {
  return value.type === 'stopped' && value.by === 'page' && value.endedAt === startedAt;
}

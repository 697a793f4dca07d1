/** What a tool is: a definition, a check of its input, and the work. */

import type { EgressList } from '../base/origins.ts';
import type { PinnaceError } from '../base/errors.ts';
import type { Issue } from '../base/parse.ts';
import type { Principal } from '../base/principal.ts';
import type { JsonSchema, ToolDefinition } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { McpAppRef } from '../contracts/mcp/content.ts';
import type { AskWhileOpen, Interaction } from '../contracts/mcp/answers.ts';
import type { Label } from '../permission/label.ts';
import type { ErrorContext } from '../events/report.ts';
import type { Span } from '../events/span.ts';
import type { Closable, Delegation, RunScope } from './run-scope.ts';

export type { ToolOutcome } from '../contracts/steps.ts';

/** How much a line of a tool's log matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How far a tool is with its work. */
export interface Progress {
  /** Grows from call to call. */
  readonly progress: number;
  /** What `progress` will be at the end, where that is known. */
  readonly total?: number;
  readonly message?: string;
}

/** A source of an output. Answers cite it, and people open it at the cited lines. */
export interface CitedSource {
  readonly dataSourceId: string;
  /** Of the hit, in its data source. */
  readonly id: string;
  readonly title?: string;
  readonly uri: string;
  readonly path?: string;
  /** The first and the last, from 1. */
  readonly lines?: readonly [from: number, to: number];
  /** Of the source, when it was read. */
  readonly version: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** The probability that the sources answer the query at all, as far as it is known; below 0.5 they probably do not. */
  readonly answered?: number;
  /** SHA-256 of the content, hexadecimal. */
  readonly contentHash: string;
}

/** What a tool gets besides its input. */
export interface ToolContext {
  /** Aborts when the call's time is up or the run ends. */
  readonly signal: AbortSignal;
  /** The secrets that the definition lists, by id. */
  readonly secrets: Readonly<Record<string, Secret>>;
  /** Logs what the tool is doing for readers of the run; the model does not see it. */
  readonly log: (text: string, level?: LogLevel) => void;
  /**
   * Redacts the run's secrets in a text. Outputs are redacted anyway; a tool that truncates a text redacts it first, so partial
   * secrets cannot leak.
   */
  readonly redact: (text: string) => string;
  /** Reports progress; absent when the caller did not request it. */
  readonly progress?: ((progress: Progress) => void) | undefined;
  /**
   * Adds the sources of the output to the run, and returns the numbers by which the answer cites them, unique in the chat. Absent
   * outside runs.
   */
  readonly cite?: ((sources: readonly CitedSource[]) => readonly number[]) | undefined;
  /** Says that another has said the output too, such as a source that was read. Only adds. Absent outside runs. */
  readonly label?: ((label: Label) => void) | undefined;
  /** Who has said the input, as far as it is known. */
  readonly inputLabel?: Label | undefined;
  /** The id of this call, the same for a retry. */
  readonly toolCallId: string;
  /** Redacts a further secret in everything of the run from now on, as a token that the call has received. */
  readonly protect?: ((secret: Secret) => void) | undefined;
  /**
   * Ends the call until a person has answered: throw the returned error. The chat's next run calls the tool again with the same input.
   * Absent where no run can wait.
   */
  readonly interrupt?: ((interaction: Interaction) => PinnaceError) | undefined;
  /** Asks a person while the call waits. Absent where no stream shows it. */
  readonly askWhileOpen?: AskWhileOpen | undefined;
  /** The answered interruption with which this call continues an earlier one. */
  readonly interruptionId?: string | undefined;
  /** The caller of the tool: state belongs to the tenant. */
  readonly principal: Principal;
  /** The MCP client that called the tool: it can ask its person. Absent in runs, and where the client cannot be asked. */
  readonly client?: CallingClient | undefined;
  /** Holds the resources of the tool until the run ends; absent for a call outside a run. */
  readonly scope?: RunScope | undefined;
  /**
   * The span of the call. A tool starts spans within it, as `span.start({ action, target })`, and adds `toTraceparent(span)` to
   * requests of its own. Absent when the call is not observed.
   */
  readonly span?: Span | undefined;
  /**
   * The only origins that the agent's calls may reach (`egress` of its record, and of the agents above it); absent: all. Tools of this
   * package obey it. The code of another tool has to: `egress.fetch(request, { origins: narrowEgress(own, context.origins), … })`.
   */
  readonly origins?: EgressList | undefined;
  /** The agents that have handed the work on; absent when a tool is called by itself. */
  readonly delegation?: Delegation | undefined;
  /**
   * Passes a cause that the tool handles itself, such as a try that it repeats, to the runtime's `onError`. What `execute` throws is
   * passed on anyway. Absent when the call is not observed.
   */
  readonly report?: ((cause: unknown, context?: Partial<Pick<ErrorContext, 'kind' | 'id'>>) => void) | undefined;
}

/** Calls of one tool that a program states before it starts. */
export interface ProgramAct {
  readonly tool: string;
  readonly times: number;
}

/** A program as a model writes it. */
export interface ProgramSource {
  readonly code: string;
  /** The acting calls of a guarded agent's program, in their order. */
  readonly acts?: readonly ProgramAct[] | undefined;
}

/** Runs programs. A run keeps its host in its scope, under `programHostKey`. */
export interface ProgramHost extends Closable {
  /** Returns what the program returned. Rejects with the `PinnaceError` of a program that was not run to its end. */
  run(program: ProgramSource, context: ToolContext): Promise<unknown>;
}

/** The result of checking an input: the input as the tool takes it, or what is wrong. */
export type InputCheck =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** A value of a preview. `null`: there is none, as before something is added. */
export type PreviewValue = string | number | boolean | null;

/** What `describe` of a tool returns. */
export interface CallPreview {
  /** What the call is about, such as the text of the note that is deleted. Shown in quotation marks, up to 200 characters. */
  readonly quote?: string | undefined;
  /** What changes, up to 20 rows. */
  readonly changes?:
    | readonly { readonly label: string; readonly before?: PreviewValue; readonly after?: PreviewValue }[]
    | undefined;
}

/** The circumstances of a preview. It only reads: it gets no secrets. */
export interface PreviewContext {
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** Takes a call back. Gets the input as the tool's check returned it, and the output as the run's log has it: redacted, as JSON. */
export interface ToolUndo<Input = unknown, Output = unknown> {
  /** Returns what a person who decides about it is shown. Only reads, within two seconds. */
  describe?(this: void, input: Input, output: Output, context: PreviewContext): CallPreview | Promise<CallPreview>;
  /** Takes the call back, or throws. Is called at most once for a call, also when the instance is lost meanwhile. */
  execute(this: void, input: Input, output: Output, context: ToolContext): unknown;
}

/** A tool that can be called. Make one with `defineTool`. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Never throws or rejects. A check that takes long lets others have their turn, and returns a promise. */
  readonly check: (input: unknown) => InputCheck | Promise<InputCheck>;
  /** Where a call goes, for the person who must approve it, as the method and address of a request. */
  readonly target?: () => string;
  /** What people read above a call, where the title of the definition is not ours to trust. */
  readonly heading?: string;
  /** What a person who must approve a call is shown of it, in quotation marks and as changes. Gets an input that passed the check. */
  readonly describe?: (input: unknown, context: PreviewContext) => CallPreview | Promise<CallPreview>;
  /**
   * The origin that every call sends its request and its secrets to: an agent whose `egress` does not have it has no such tool. Without
   * it, secrets are handed to `execute`, and so must be bound to `code`.
   */
  readonly secretOrigin?: string;
  /** Its output is an object that says to models whether strangers have written it, which is made of its label. */
  readonly saysWho?: boolean;
  /** Whether the tool can be used now: a step does not offer one that cannot. Absent: always. */
  readonly isAvailable?: () => boolean;
  /** The approved app of an MCP server that shows the results, for the stream of the run. */
  readonly app?: () => McpAppRef | undefined;
  /** Returns the tool as a model sees it beside these ones, which its description may list. Absent: as it is. */
  readonly beside?: (others: readonly Tool[]) => Tool;
  /** Returns what a model should know of these tools for a request, as data of its turn; `undefined` where the description says it. */
  readonly noteFor?: (request: string, others: readonly Tool[]) => string | undefined;
  /** A second action that the permission hook rules on before the call, as the start of a program. Without a resource, of the tool. */
  readonly starts?: (
    input: unknown,
  ) =>
    | {
      readonly action: string;
      readonly input: unknown;
      readonly resource?: { readonly type: string; readonly id: string };
    }
    | undefined;
  /** What `tool_find` finds besides the tool, each read by a call of it, as `skill:<name>`. No tool is called so. */
  readonly topics?: readonly { readonly name: string; readonly description: string }[];
  /** Gets an input that passed the check. The model receives a `PinnaceError` that it throws, and no other error. */
  readonly execute: (input: unknown, context: ToolContext) => unknown;
  /** How a call is taken back. Absent: it cannot be. */
  readonly undo?: ToolUndo;
}

/** A tool whose types are known to the compiler; `ToolsOf` collects them. */
export interface TypedTool<Id extends string = string, Input = unknown, Output = unknown> extends Tool {
  /** For the compiler only: never set. */
  readonly types?: { readonly id: Id; readonly input: Input; readonly output: Output };
}

/** A question to the client. */
export type ClientQuestion =
  | {
    readonly kind: 'form';
    readonly message: string;
    /** The fields: an object of text, numbers, booleans and choices, at most 20. Never ask for a secret. */
    readonly schema: JsonSchema;
  }
  | {
    readonly kind: 'url';
    readonly message: string;
    /** The page to open, with `https`. */
    readonly url: string;
  }
  | {
    readonly kind: 'sampling';
    readonly messages: readonly {
      readonly role: 'user' | 'assistant';
      readonly content: { readonly type: 'text'; readonly text: string };
    }[];
    readonly maxTokens: number;
    readonly systemPrompt?: string;
  }
  | { readonly kind: 'roots' };

/** Questions by key. */
export type ClientQuestions = Readonly<Record<string, ClientQuestion>>;

/** The answer to each kind of question. The client sent it: treat it as input. */
export interface ClientAnswers {
  readonly form: {
    readonly action: 'accept' | 'decline' | 'cancel';
    /** Present with `accept`; fits the schema. */
    readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  };
  /** `accept` means that the page was opened. */
  readonly url: { readonly action: 'accept' | 'decline' | 'cancel' };
  readonly sampling: { readonly role: string; readonly content: unknown; readonly model?: string };
  readonly roots: { readonly roots: readonly { readonly uri: string; readonly name?: string }[] };
}

/** The answers to questions. */
export type AnswersTo<Questions extends ClientQuestions> = {
  readonly [Key in keyof Questions]: ClientAnswers[Questions[Key]['kind']];
};

/** The client of a call. */
export interface CallingClient {
  /** Whether the client can answer questions of this kind. */
  canAnswer(kind: ClientQuestion['kind']): boolean;
  /**
   * Returns the answers to the questions. Until the client has answered, `ask` ends the execution: the tool is executed again from its
   * start when the answers have arrived, and `ask` then returns them. So ask before you act, and ask the same again for the same input.
   *
   * Answers count only with the state that came with the questions: for the same principal, tool and input, once, within an hour.
   * With `bound: false` answers also count when they come with the first request.
   *
   * @throws PinnaceError `unavailable` (`client_cannot_answer`), `invalid_argument` (`question_invalid`, `secret_in_form`),
   * `budget_exceeded` (`too_many_rounds`) after 8 rounds.
   * @example
   * const { who } = await client.ask({ who: { kind: 'form', message: 'Who is it for?', schema } });
   */
  ask<const Questions extends ClientQuestions>(
    questions: Questions,
    options?: { readonly bound?: boolean },
  ): Promise<AnswersTo<Questions>>;
}

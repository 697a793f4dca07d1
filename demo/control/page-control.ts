/** The workers' interfaces for the page besides runs: agents, model choice, endpoints. */

import type { ErrorData } from '../../src/base/errors.ts';
import type { Found, RunNews, RunRecord } from './runs-control.ts';

export interface AgentCard {
  readonly id: string;
  readonly name: string;
  /** Its second name. */
  readonly role?: string;
  readonly description: string;
  readonly tools: readonly { readonly name: string; readonly title: string; readonly description: string }[];
  /** Suggested first messages. */
  readonly suggestions: readonly string[];
  /** What the page shows beside a chat with the agent. */
  readonly panel?: 'tree' | 'knowledge';
  /** How many tokens its model takes, where its record says so. */
  readonly contextTokens?: number | undefined;
  /** What it may do with the words of others; absent: `open`. */
  readonly trust?: 'watched' | 'guarded' | undefined;
  /** Its runs make plans: requests carry `planner`. */
  readonly plans?: boolean;
}

/** An OpenAI-compatible endpoint. The key goes to the worker and is never read back. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
  /** The vault's secret that holds the key. */
  readonly secretId?: string;
}

export type ServerModel = Pick<Endpoint, 'baseUrl' | 'model'>;

/** A request to a model server: its models, or an answer of one. */
export interface AskedServer {
  readonly baseUrl: string;
  readonly model?: string | undefined;
  /** It needs no key. */
  readonly keyless: boolean;
}

/** What a model server has said: its models, or after how many milliseconds an answer began; or why not, in a person's words. */
export type ServerAnswer =
  | { readonly ok: true; readonly models: readonly string[] }
  | { readonly ok: true; readonly afterMs: number }
  | { readonly ok: false; readonly text: string };

/** What can be done with a plan besides answering it. */
export type PlanSteering = 'pause' | 'resume' | 'cancel';

/** The worker's control interface, called over comlink. */
export interface Control {
  agents(): Promise<readonly AgentCard[]>;
  /** The next run uses this endpoint; `undefined`: the embedded rehearsal model. Rejects nothing: a wrong key shows in the run. */
  useEndpoint(endpoint: Endpoint | undefined): void;
  /** The next run uses this model, with the key that this worker was given for the server. Returns false when it has none. */
  useModel(model: ServerModel): boolean;
  /** The server's models, or with a model whether that answers; by the key that this worker was given for the server. */
  askServer(asked: AskedServer): Promise<ServerAnswer>;
  /** The endpoint in use: a worker that outlasts a reload still has its key. */
  connectedEndpoint(): Pick<Endpoint, 'baseUrl' | 'model'> | undefined;
  /** The next run uses the model of the page's browser, which `serveBrowserModel` has on the other end of this port. */
  useBrowserModel(port: MessagePort): void;
  /** Pauses a plan, which then starts nothing more, lets it go on, or cancels it. */
  steerPlan(planId: string, how: PlanSteering): Promise<void>;
  /** Ends the worker, which then writes nothing more. */
  close(): void;
  /** Runs code tools by a `PageCells` on this port; only a shared worker needs it. */
  openCells(port: MessagePort): void;
  /** Uses the tools of the page, which `servePageTools` has on the other end of this port. */
  openPageTools(port: MessagePort): void;
  /** Answers the `offerAgentTools` of the page on the other end of this port, with all tools of the agent. */
  offerAgentTools(agentId: string, port: MessagePort): Promise<void>;
  /** Exposes the runtime on this port; the page then calls `connectRuntime` on the other end. */
  open(port: MessagePort): void;
  /** Exposes the tree on this port, as a `TreeControl`. */
  openTree(port: MessagePort): void;
  /** Exposes the registry on this port, as a `RegistryControl`. */
  openRegistry(port: MessagePort): void;
  /** Exposes the knowledge on this port, as a `KnowledgeControl`. */
  openKnowledge(port: MessagePort): void;
  /** Exposes what is known of runs on this port, as an `InspectorControl`. */
  openInspector(port: MessagePort): void;
  /** Exposes the test cases on this port, as an `EvalsControl`. */
  openEvals(port: MessagePort): void;
}

/** A Pinnace endpoint, and who certifies this page's key for it. */
export interface EndpointAddress {
  readonly url: string;
  readonly issuer: string;
}

/** A run at an endpoint, and the plan that it follows, if any. */
export interface AskedRun {
  readonly traceId: string;
  readonly planId?: string | undefined;
}

/** The interface of the worker that speaks with Pinnace endpoints, called over comlink. */
export interface EndpointControl {
  /** Exposes the endpoint as a runtime on this port. Answers with why not, as data: comlink would drop the code of an error. */
  open(address: EndpointAddress, port: MessagePort): Promise<ErrorData | undefined>;
  /** Returns a run at an opened endpoint; `onNews` receives its progress until the next call. */
  run(url: string, requested: AskedRun, onNews: (news: RunNews) => void): Promise<Found<RunRecord>>;
  /** The page no longer shows the run. */
  leaveRun(): void;
  /** Exposes the console of an endpoint that was opened on this port, as a `ConsoleControl`. */
  openConsole(url: string, port: MessagePort): Promise<ErrorData | undefined>;
}

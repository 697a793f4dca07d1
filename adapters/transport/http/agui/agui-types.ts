/** The events of AG-UI, and what is known of a run when its stream starts. */

/** One event, as the protocol writes it. */
export interface AguiEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The ids of the client, and what it sent as state. */
export interface AguiRun {
  readonly threadId: string;
  readonly runId: string;
  readonly state: unknown;
  /** The names of tools that the client offered. Runs do not call them. */
  readonly offeredTools: readonly string[];
  /** The ids of the calls in the client's thread. */
  readonly knownCalls: ReadonlySet<string>;
}

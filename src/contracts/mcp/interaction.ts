/** What a tool call may need of a person before it can go on. */

/** Asks a person while the call waits: returns the id of the interruption, when the stream shows it. */
export type AskWhileOpen = (interaction: Interaction) => Promise<string>;

/** A question to a person, asked by a call that has ended for now. The chat's next run makes the call again, with the answer. */
export interface Interaction {
  readonly kind: 'sign_in' | 'elicitation';
  /** For clients that know approvals only, in our words. */
  readonly reason: string;
  /** Further fields of the stream's `data-interruption` part. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Stores what the next call needs, before the person is asked. */
  readonly save: (
    interruption: { readonly id: string; readonly runId: string; readonly expiresAt: number },
  ) => Promise<void>;
}

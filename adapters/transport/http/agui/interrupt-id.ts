/** The ids of AG-UI interrupts: they say which approval of which run they are, and which message goes on. */

/** An approval that a run waits for. */
export interface WaitingApproval {
  readonly runId: string;
  readonly approvalId: string;
  /** The message that the run answers in. */
  readonly messageId: string;
}

/** Writes the id of an interrupt. Clients return it as it is. */
export function toInterruptId({ runId, approvalId, messageId }: WaitingApproval): string {
  return [runId, approvalId, messageId].map(encodeURIComponent).join(':');
}

/** Reads the id of an interrupt; `undefined` when it is none. What it names is checked by the runtime. */
export function fromInterruptId(id: string): WaitingApproval | undefined {
  const parts = id.split(':');
  if (parts.length !== 3 || parts.some((part) => part === '')) return undefined;
  try {
    const [runId = '', approvalId = '', messageId = ''] = parts.map(decodeURIComponent);
    return { runId, approvalId, messageId };
  } catch {
    return undefined; // a broken escape
  }
}

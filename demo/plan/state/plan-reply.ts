/** How a person's answer to a question of a plan gets there, and what comes of it. */

import type { PlanPart } from './plan-data.ts';
import type { PlanQuestion, PlanReply } from './plan-data.ts';

/** An answer, and its text for people. */
export interface Answer {
  readonly value: unknown;
  readonly said: string;
}

interface AnswerOptions {
  readonly answer: Answer;
  /** Brings it to the runtime. Rejects with a `PinnaceError`. */
  readonly send: (value: unknown) => Promise<void>;
}

/** Answers a question and shows that at once. Returns whether the plan may have continued with it. */
export async function answerQuestion(
  { replies }: PlanPart,
  question: PlanQuestion,
  { answer: { value, said }, send }: AnswerOptions,
): Promise<boolean> {
  const known = replies.value[question.ask];
  if (known?.isOver || known?.isPending) return false;
  const note = (reply: Omit<PlanReply, 'question'>): void =>
    void (replies.value = { ...replies.value, [question.ask]: { question, ...reply } });
  note({ said, isOver: false, isPending: true });
  try {
    await sendText(value, send);
    note({ said, isOver: true });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal';
    const over = overBy[code];
    const why = error instanceof Error ? error.message : 'something went wrong';
    note({ said: '', isOver: over !== undefined, problem: over ?? `Your answer was not sent: ${why}. Try again.` });
    return over !== undefined && code !== 'not_found';
  }
}

/** A question may expect something other than text, which its view does not say: then parse the answer as JSON. */
export async function sendText(value: unknown, send: AnswerOptions['send']): Promise<void> {
  try {
    return await send(value);
  } catch (error) {
    const read = typeof value === 'string' ? readJson(value) : undefined;
    const isRefused = error instanceof Error && 'code' in error && error.code === 'invalid_argument';
    if (!isRefused || read === undefined) throw error;
    await send(read);
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const overBy: Readonly<Record<string, string>> = {
  already_decided: 'This question was already answered, in another tab or before a reload.',
  approval_expired: 'The question expired.',
  conflict: 'This question no longer needs an answer.',
  not_found: 'The runtime no longer has this question.',
};

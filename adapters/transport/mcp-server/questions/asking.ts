/**
 * Lets a tool ask the client that called it. The protocol has no open calls: a question ends the execution, and the call is executed
 * again with the answer.
 */

import { PinnaceError } from '../../../../src/base/errors.ts';
import { sha256 } from '../../../../src/base/hash.ts';
import { isRecord } from '../../../../src/base/is-record.ts';
import { canonicalJson } from '../../../../src/base/json.ts';
import { redactData } from '../../../../src/permission/redaction/run-redaction.ts';
import type { AnswersTo, CallingClient, ClientQuestion, ClientQuestions } from '../../../../src/tools/tool.ts';
import type { QuestionRecord } from './question-state.ts';
import {
  canAnswer,
  type ClientCapabilities,
  invalidQuestion,
  readAnswer,
  toWireQuestion,
  type WireQuestion,
} from './question.ts';

/** What came with the request. */
export interface AskingOptions {
  readonly capabilities: ClientCapabilities;
  /** What was stored with the last question; `undefined` for a first request. */
  readonly record: QuestionRecord | undefined;
  /** The answers of the request, unchecked. */
  readonly responses: unknown;
}

/** The questions of one execution. */
export interface Asking {
  readonly client: CallingClient;
  /** Asks the person to approve the call that this message describes. */
  askApproval(message: string): void;
  /** What the person has decided; `undefined` where it was not asked, or gave no answer. */
  decided(): boolean | undefined;
  /** From now on these secrets are taken out of questions. */
  redact: (text: string) => string;
  /** The questions that ended the execution; `undefined` when it asked nothing, or everything was answered. */
  pending(): Pending | undefined;
}

/** Questions to send, and what is to be stored with them. */
export interface Pending {
  readonly requests: Readonly<Record<string, WireQuestion>>;
  /** `undefined`: answers need no state. */
  readonly record: QuestionRecord | undefined;
}

/** How often the client is asked in one call. */
const maxRounds = 8;
const maxQuestions = 10;
const maxAnswersLength = 65_536;

/** Opens the questions of one execution. */
export function openAsking({ capabilities, record, responses }: AskingOptions): Asking {
  const given = isRecord(responses) ? responses : {};
  const answers: Record<string, unknown> = { ...record?.answers };
  let pending: Pending | undefined;
  const collect = async (questions: ClientQuestions, bound: boolean): Promise<Record<string, unknown> | undefined> => {
    const open: Record<string, WireQuestion> = {};
    const asked: Record<string, string> = {};
    const found: Record<string, unknown> = {};
    for (const [key, question] of entriesOf(questions)) {
      if (!canAnswer(question.kind, capabilities)) throw cannotAnswer(key, question);
      const wire = redactData(toWireQuestion(key, question), asking.redact);
      const digest = await sha256(canonicalJson(wire));
      const id = `${key} ${digest}`;
      const mayRead = record?.asked[key] === digest || !bound;
      answers[id] ??= mayRead ? readAnswer(question, given[key]) : undefined;
      if (answers[id] === undefined) [open[key], asked[key]] = [wire, digest];
      else found[key] = answers[id];
    }
    if (Object.keys(open).length === 0) return found;
    const needsState = bound || Object.keys(record?.answers ?? {}).length > 0;
    pending = { requests: open, record: needsState ? nextRecord(record, answers, asked) : undefined };
    return undefined;
  };
  const asking: Asking = {
    redact: (text) => text,
    pending: () => pending,
    askApproval(message) {
      const requests = { [approvalKey]: redactData(toWireQuestion(approvalKey, approvalForm(message)), asking.redact) };
      pending = { requests, record: nextRecord(record, answers, { [approvalKey]: approvalKey }) };
    },
    decided() {
      if (record?.asked[approvalKey] === undefined) return answers[approvalKey] as boolean | undefined; // written below
      const answer = readAnswer(approvalForm(''), given[approvalKey]);
      if (!answer || !('action' in answer)) return undefined;
      const decision = answer.action === 'accept' && 'content' in answer && answer.content?.['approve'] === true;
      answers[approvalKey] = decision;
      return decision;
    },
    client: {
      canAnswer: (kind) => canAnswer(kind, capabilities),
      async ask<const Questions extends ClientQuestions>(
        questions: Questions,
        { bound = true }: { readonly bound?: boolean } = {},
      ) {
        const found = await collect(questions, bound);
        if (!found) throw new QuestionOpen();
        return found as AnswersTo<Questions>; // each was read as the answer to its question
      },
    },
  };
  return asking;
}

/** The key of the question whether a call may be made. Tools cannot use it: the state is bound to the tool and its input. */
const approvalKey = 'pinnace.approval';

function approvalForm(message: string): ClientQuestion {
  const approve = { type: 'boolean', title: 'Allow this call' };
  const schema = { type: 'object', properties: { approve }, required: ['approve'] };
  return { kind: 'form', message: message.slice(0, 4096), schema };
}

/** Ends the execution of a tool that has asked. */
export class QuestionOpen extends PinnaceError {
  constructor() {
    super('approval_required', 'The client has to answer first: the call is executed again with its answer', {
      details: { reason: 'question_open' },
    });
  }
}

function entriesOf(questions: ClientQuestions): readonly (readonly [string, ClientQuestion])[] {
  const entries = Object.entries(questions);
  const [first = ''] = Object.keys(questions);
  if (entries.length === 0 || entries.length > maxQuestions) {
    throw invalidQuestion(first, `a call asks 1 to ${maxQuestions} questions at once`);
  }
  const odd = entries.find(([key]) => !/^[\w-]{1,64}$/.test(key));
  if (odd) throw invalidQuestion(odd[0], 'its key must be 1 to 64 letters, digits, "_" or "-"');
  return entries;
}

function nextRecord(
  record: QuestionRecord | undefined,
  all: Readonly<Record<string, unknown>>,
  asked: Readonly<Record<string, string>>,
): QuestionRecord {
  const round = (record?.round ?? 0) + 1;
  const answers = Object.fromEntries(Object.entries(all).filter(([, answer]) => answer !== undefined));
  if (round > maxRounds || JSON.stringify(answers).length > maxAnswersLength) {
    throw new PinnaceError('budget_exceeded', `Cannot ask the client again: a call asks at most ${maxRounds} times`, {
      details: { reason: 'too_many_rounds', maxRounds, maxAnswersLength },
    });
  }
  return { round, answers, asked };
}

function cannotAnswer(key: string, { kind }: ClientQuestion): PinnaceError {
  return new PinnaceError('unavailable', `Cannot ask "${key}": the client does not declare that it answers "${kind}"`, {
    retryable: false,
    details: { reason: 'client_cannot_answer', kind },
  });
}

/** Questions of tools in the form of MCP, and the checks of their answers. */

import * as v from 'valibot';
import { isRecord } from '../../../../src/base/is-record.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { JsonSchema } from '../../../../src/base/schema.ts';
import type { ClientAnswers, ClientQuestion } from '../../../../src/tools/tool.ts';
import { compileJsonSchema } from '../../../../src/tools/json-schema/json-schema.ts';

/** A request to the client, inside a result. */
export interface WireQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: Readonly<Record<string, unknown>>;
}

/** What a client declares that it can do. */
export type ClientCapabilities = Readonly<Record<string, unknown>> | undefined;

/** Whether a client that declares these capabilities can answer questions of a kind. */
export function canAnswer(kind: ClientQuestion['kind'], capabilities: ClientCapabilities): boolean {
  const { elicitation, sampling, roots } = capabilities ?? {};
  switch (kind) {
    case 'form': // A client that names no mode has this one.
      return isRecord(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined);
    case 'url':
      return isRecord(elicitation) && elicitation['url'] !== undefined;
    case 'sampling':
      return sampling !== undefined;
    default:
      return roots !== undefined;
  }
}

const maxMessageLength = 4096;
const maxFields = 20;
const secretName =
  /pass(word|phrase|wd)|secret|api[\s_-]?key|private[\s_-]?key|access[\s_-]?token|\bcvv\b|card[\s_-]?number/i;

/**
 * Returns the question in the form of MCP.
 *
 * @throws PinnaceError `invalid_argument`: `secret_in_form` for a form that asks for a secret, `question_invalid` for another that
 * no client can show.
 */
export function toWireQuestion(key: string, question: ClientQuestion): WireQuestion {
  switch (question.kind) {
    case 'form':
      checkMessage(key, question.message);
      checkForm(key, question.schema);
      return {
        method: 'elicitation/create',
        params: { mode: 'form', message: question.message, requestedSchema: question.schema },
      };
    case 'url':
      checkMessage(key, question.message);
      if (!isPage(question.url)) throw invalidQuestion(key, 'its URL is not https, or has user information');
      return { method: 'elicitation/create', params: { mode: 'url', message: question.message, url: question.url } };
    case 'sampling': {
      const { kind: _, ...params } = question;
      return { method: 'sampling/createMessage', params };
    }
    default:
      return { method: 'roots/list', params: {} };
  }
}

function checkMessage(key: string, message: string): void {
  if (message.length > maxMessageLength) throw invalidQuestion(key, `its message is longer than ${maxMessageLength}`);
}

function checkForm(key: string, schema: JsonSchema): void {
  const { type, properties } = schema;
  if (type !== 'object' || !isRecord(properties)) throw invalidQuestion(key, 'its schema is not of an object');
  const names = Object.keys(properties);
  if (names.length === 0 || names.length > maxFields) throw invalidQuestion(key, `it has not 1 to ${maxFields} fields`);
  if (names.some((name) => secretName.test(name))) {
    throw new PinnaceError('invalid_argument', `Cannot ask "${key}": a form must not ask for secrets; ask by URL`, {
      details: { reason: 'secret_in_form' },
    });
  }
}

function isPage(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return protocol === 'https:' && username === '' && password === '';
}

/** The error for a question that cannot be sent. */
export function invalidQuestion(key: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot ask "${key.slice(0, 64)}": ${why}`, {
    details: { reason: 'question_invalid' },
  });
}

const Action = v.picklist(['accept', 'decline', 'cancel']);
const Value = v.union([v.string(), v.number(), v.boolean(), v.array(v.string())]);
const FormAnswer = v.object({ action: Action, content: v.optional(v.record(v.string(), Value)) });
const UrlAnswer = v.object({ action: Action });
const SamplingAnswer = v.object({ role: v.string(), content: v.unknown(), model: v.optional(v.string()) });
const RootsAnswer = v.object({
  roots: v.pipe(v.array(v.object({ uri: v.string(), name: v.optional(v.string()) })), v.maxLength(100)),
});

/** Reads the answer to a question; `undefined` for one that does not fit it. */
export function readAnswer(
  question: ClientQuestion,
  given: unknown,
): ClientAnswers[ClientQuestion['kind']] | undefined {
  switch (question.kind) {
    case 'form':
      return readForm(question.schema, given);
    case 'url':
      return outputOf(UrlAnswer, given);
    case 'sampling':
      return outputOf(SamplingAnswer, given) as ClientAnswers['sampling'] | undefined;
    default:
      return outputOf(RootsAnswer, given) as ClientAnswers['roots'] | undefined;
  }
}

function readForm(schema: JsonSchema, given: unknown): ClientAnswers['form'] | undefined {
  const answer = outputOf(FormAnswer, given);
  if (!answer || answer.action !== 'accept') return answer && { action: answer.action };
  const { content } = answer;
  if (content === undefined || compileJsonSchema(schema)(content).length > 0) return undefined;
  return { action: 'accept', content };
}

function outputOf<S extends v.GenericSchema>(schema: S, given: unknown): v.InferOutput<S> | undefined {
  const result = v.safeParse(schema, given);
  return result.success ? result.output : undefined;
}

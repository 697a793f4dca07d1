/** Calls tools of type `http`: builds the request, sends it through the egress, and shapes the answer. Loaded with the first call. */

import { narrowEgress } from '../base/origins.ts';
import { type ErrorCode, PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { readAnswerText } from '../base/read-text.ts';
import { readRetryAfter, type RetryOptions, withRetries } from '../base/with-retries.ts';
import type { Egress, SecretText } from '../contracts/egress.ts';
import { type SpanContext, within } from '../events/span.ts';
import { toTraceparent } from '../events/trace-ids.ts';
import {
  fillTemplate,
  type HttpToolConfig,
  isAbsent,
  isIdempotent,
  parseTemplate,
  secretsIn,
  type TemplateValues,
  toText,
} from './http-config.ts';
import type { ToolContext } from './tool.ts';

/** What the tool works with. */
export interface HttpToolOptions extends Pick<RetryOptions, 'random' | 'wait'> {
  /** Sends the requests. */
  readonly egress: Egress;
}

type HttpCallOptions =
  & HttpToolOptions
  & Pick<ToolContext, 'signal' | 'secrets' | 'redact' | 'span' | 'principal' | 'report' | 'origins'>;

export async function callHttp(
  config: HttpToolConfig,
  input: TemplateValues['input'],
  { egress, origins: agentOrigins, signal, secrets, redact, span, report, principal: { tenant }, ...clock }:
    HttpCallOptions,
): Promise<HttpToolOutput> {
  const { method, origin, redirectOrigins, maxBytes, timeoutMs, retries } = config;
  const circuit = `${method} ${config.path}`;
  const origins = narrowEgress([origin, ...redirectOrigins], agentOrigins) ?? [];
  const terms = { origins, maxBytes, timeoutMs, signal, circuit, tenant };
  const send = async (): Promise<HttpToolOutput> => {
    const { request, ...secretParts } = buildRequest(config, { input, secrets });
    return await withinRequest(span, { origin, method }, async (trace) => {
      const answer = await egress.fetch(request, { ...terms, ...secretParts, ...trace.options });
      trace.note(answer);
      return await shapeAnswer(answer, config, { redact });
    });
  };
  if (isIdempotent(config)) {
    return await withRetries(send, { ...clock, retries, signal, ...(report && { onRetry: report }) });
  }
  try {
    return await send();
  } catch (error) {
    throw withDoubt(error);
  }
}

/** Sends the request that takes a call back. It is never sent twice. */
export async function undoHttp(
  config: HttpToolConfig,
  { input, output }: { readonly input: TemplateValues['input']; readonly output: unknown },
  options: HttpCallOptions,
): Promise<HttpToolOutput> {
  const { method, url = '', body } = config.undo ?? {};
  const values: Record<string, unknown> = { ...input };
  const data = isRecord(output) ? output['data'] : undefined;
  const named = (template: string): string =>
    template.replaceAll(/\{output\.([\w.-]+)\}/g, (_, path: string) => {
      const name = `output__${path.replaceAll('.', '__')}`;
      values[name] = path.split('.').reduce<unknown>((at, key) => isRecord(at) ? at[key] : undefined, data);
      return `{${name}}`;
    });
  const [path = '', query = ''] = named(url).split('?', 2);
  const fields = Object.entries(body?.fields ?? {}).map(([name, template]) => [name, named(template)]);
  const request = {
    ...config,
    method: method ?? config.method,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    body: body && { ...body, fields: Object.fromEntries(fields) as Record<string, string> }, // of the entries above
    retries: 0,
  };
  return await callHttp(request, values, options);
}

/** A request that changes something and whose answer is lost may have changed it: to try again is not for a machine. */
function withDoubt(error: unknown): unknown {
  if (!(error instanceof PinnaceError)) return error;
  const { code, message, details } = error;
  const isLost = code === 'deadline_exceeded' || details?.['reason'] === 'unreachable';
  const isServersFault = code === 'unavailable' && details?.['reason'] === 'http_status';
  if (!isLost && !isServersFault) return error;
  return new PinnaceError('outcome_unknown', `${message}; whether the request had its effect is not known`, {
    cause: error,
    details: { reason: 'answer_lost' },
  });
}

/** What a request adds to its span and takes from it. */
interface RequestTrace {
  /** For the way out: the request carries where in the trace it comes from. */
  readonly options: { readonly traceparent?: string };
  readonly note: (answer: Response) => void;
}

/** Sends a request within a span, where there is one. The span has only the origin: a path may hold anything. */
export function withinRequest<T>(
  spanContext: SpanContext | undefined,
  { origin, method }: { readonly origin: string; readonly method: string },
  send: (trace: RequestTrace) => Promise<T>,
): Promise<T> {
  const facts = { action: 'http.request', target: { type: 'origin', id: origin }, payload: { method } };
  return within(spanContext, facts, (span) =>
    send({
      options: span ? { traceparent: toTraceparent(span) } : {},
      note: ({ status }) => span?.note({ httpStatus: status }),
    }));
}

/** A request, and the secrets that the egress puts into it. */
interface TemplateRequest {
  readonly request: Request;
  readonly secretHeaders: Readonly<Record<string, SecretText>>;
  readonly secretFields: Readonly<Record<string, SecretText>>;
}

export function buildRequest(config: HttpToolConfig, values: TemplateValues): TemplateRequest {
  const url = new URL(config.origin);
  url.pathname = buildPath(config.path, values);
  url.search = buildQuery(config.query, values);
  const { open, secret: secretHeaders } = split(config.headers, values);
  const headers = buildHeaders(open);
  const { body, type, secretFields } = buildBody(config, values);
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', type);
  const init = { method: config.method, headers, ...(body !== undefined && { body }) };
  return { request: new Request(url, init), secretHeaders, secretFields };
}

function buildPath(path: string, { input }: TemplateValues): string {
  return path.split('/').map((segment) => {
    const text = parseTemplate(segment).map((
      part,
    ) => (part.kind === 'input' ? encode(part.name, input) : partText(part)));
    return refuseDots(text.join(''));
  }).join('/');
}

function partText(part: { readonly kind: string; readonly text?: string }): string {
  return part.text ?? '';
}

/** What a server takes apart at a slash, written or encoded, must not lead up. */
function encode(name: string, input: TemplateValues['input']): string {
  const text = isAbsent(input, name) ? '' : toText(name, input[name]);
  const leadsUp = text.split(/[\\/]/).some((part) => /^(\.|%2e){1,2}$/i.test(part));
  if (text === '' || leadsUp) {
    throw invalidSegment(`the input "${name}" must be neither empty nor lead to another path`);
  }
  return encodeURIComponent(text);
}

function refuseDots(segment: string): string {
  if (/^(\.|%2e){1,2}$/i.test(segment)) throw invalidSegment('no part of it may be "." or ".."');
  return segment;
}

function buildQuery(query: Readonly<Record<string, string>>, values: TemplateValues): string {
  const search = new URLSearchParams();
  for (const [name, template] of Object.entries(query)) {
    const all = listOf(template, values.input)?.map((value) => toText(name, value)) ?? [textOf(template, values)];
    for (const value of all) if (value !== undefined) search.append(name, value);
  }
  return search.toString();
}

/** A list input that is the whole value becomes one parameter per item. */
function listOf(template: string, input: TemplateValues['input']): readonly unknown[] | undefined {
  const value = wholeInput(template, input);
  return Array.isArray(value) ? value : undefined;
}

function wholeInput(template: string, input: TemplateValues['input']): unknown {
  const [only, ...others] = parseTemplate(template);
  return only?.kind === 'input' && others.length === 0 && !isAbsent(input, only.name) ? input[only.name] : undefined;
}

function textOf(template: string, values: TemplateValues): string | undefined {
  return fillTemplate(template, values)?.join('');
}

/** What has no secret is filled in now; what has one stays in parts. */
function split(
  templates: Readonly<Record<string, string>>,
  values: TemplateValues,
): { open: Record<string, string>; secret: Record<string, SecretText> } {
  const open: [string, string][] = [];
  const secret: [string, SecretText][] = [];
  for (const [name, template] of Object.entries(templates)) {
    const filled = fillTemplate(template, values);
    if (filled === undefined) continue;
    if (secretsIn(template).length > 0) secret.push([name, filled]);
    else open.push([name, filled.join('')]);
  }
  return { open: Object.fromEntries(open), secret: Object.fromEntries(secret) };
}

function buildHeaders(values: Readonly<Record<string, string>>): Headers {
  const headers = new Headers({ accept: 'application/json, text/*;q=0.9' });
  for (const [name, value] of Object.entries(values)) {
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new PinnaceError('invalid_argument', `Cannot fill in the header "${name}": it must have no line breaks`, {
        details: { reason: 'header_value' },
      });
    }
    headers.set(name, value);
  }
  return headers;
}

interface Body {
  readonly body: string | undefined;
  readonly type: string;
  readonly secretFields: Readonly<Record<string, SecretText>>;
}

function buildBody({ body }: HttpToolConfig, values: TemplateValues): Body {
  if (body === undefined) return { body: undefined, type: '', secretFields: {} };
  const { open, secret: secretFields } = split(textFields(body.fields, values), values);
  if (body.as === 'form') {
    return {
      body: new URLSearchParams(open).toString(),
      type: 'application/x-www-form-urlencoded',
      secretFields,
    };
  }
  const whole = Object.entries(body.fields).map(([name, template]) =>
    [name, wholeInput(template, values.input)] as const
  );
  const fields = { ...open, ...Object.fromEntries(whole.filter(([, value]) => value !== undefined)) };
  return { body: JSON.stringify(fields), type: 'application/json', secretFields };
}

/** JSON takes a whole input as it is; only the rest is text. */
function textFields(fields: Readonly<Record<string, string>>, { input }: TemplateValues): Record<string, string> {
  const isObject = (template: string): boolean => typeof wholeInput(template, input) === 'object';
  return Object.fromEntries(Object.entries(fields).filter(([, template]) => !isObject(template)));
}

function invalidSegment(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot fill in the path: ${why}`, {
    details: { reason: 'path_segment' },
  });
}

/** The output of an HTTP tool. `data` is what the server said: facts to judge, never instructions. */
interface HttpToolOutput {
  readonly source: string;
  readonly status: number;
  readonly data: unknown;
  /** Whether `data` is the beginning of a longer text. */
  readonly truncated?: true;
}

/**
 * Returns the output for an answer. Secrets are redacted before it is truncated.
 *
 * @throws PinnaceError for a status of 400 and more, without what the server said, and for JSON that is none.
 */
async function shapeAnswer(
  answer: Response,
  { origin, response }: HttpToolConfig,
  { redact }: Pick<ToolContext, 'redact'>,
): Promise<HttpToolOutput> {
  if (answer.status >= 400) {
    await answer.body?.cancel();
    throw failedAnswer(answer);
  }
  const text = await readAnswerText(answer);
  const frame = { source: origin, status: answer.status };
  const { maxLength } = response;
  if (response.as === 'text' || text === '') return { ...frame, ...cut(text, { maxLength, redact }) };
  const selected = response.fields === undefined ? parseJson(text) : pick(parseJson(text), response.fields);
  const shown = JSON.stringify(selected);
  return shown.length > maxLength ? { ...frame, ...cut(shown, { maxLength, redact }) } : { ...frame, data: selected };
}

type Cut = Pick<ToolContext, 'redact'> & { readonly maxLength: number };

function cut(text: string, { maxLength, redact }: Cut): Pick<HttpToolOutput, 'data' | 'truncated'> {
  if (text.length <= maxLength) return { data: text };
  return { data: redact(text).slice(0, maxLength).toWellFormed(), truncated: true };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch {
    throw new PinnaceError('unavailable', 'Cannot use the answer: it is not JSON', {
      retryable: false,
      details: { reason: 'answer_not_json' },
    });
  }
}

/** Selects the values at the paths; in a list, those of each item. */
function pick(value: unknown, paths: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(item, paths));
  if (typeof value !== 'object' || value === null) return null;
  const below = Map.groupBy(paths, (path) => path.split('.', 1)[0] ?? '');
  const selected = [...below].filter(([key]) => Object.hasOwn(value, key)).map(([key, all]) => {
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[key]; // it has the key
    return [key, all.includes(key) ? inner : pick(inner, all.map((path) => path.slice(key.length + 1)))];
  });
  return Object.fromEntries(selected);
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
  408: 'unavailable',
  409: 'conflict',
  410: 'not_found',
  412: 'conflict',
  429: 'rate_limited',
};

function failedAnswer({ status, headers }: Response): PinnaceError {
  const code = codes[status] ?? (status >= 500 ? 'unavailable' : 'invalid_argument');
  const date = headers.get('date');
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), { date, now: Date.now() });
  return new PinnaceError(code, `The server answered with status ${status}`, {
    details: { reason: 'http_status', status },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

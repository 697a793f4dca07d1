/** Requests to a model endpoint as they must be, and its answers as the AI SDK reads them. */

import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { mapSchema } from '../../src/base/object-schema.ts';
import { withReasoningDetails } from './answer-thoughts.ts';
import { readAnswer } from './model-answer.ts';

export interface ModelFetchOptions {
  readonly fetch?: typeof fetch | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The parameters that the server does not take. Those that it refuses are added. */
  readonly refused?: Set<string>;
}

const mostRefusals = 4;
/** The most of an error that is looked at, in UTF-16 code units. */
const longestError = 65_536;

/**
 * Wraps `fetch` for a model. It removes the `user-agent` header that the AI SDK adds, because browsers that send it make strict
 * preflights fail; one among `headers` is sent as it is. A request that the server refuses because of a parameter that means nothing
 * to the caller is sent again without it, and later requests leave it out.
 */
export function modelFetch(options: ModelFetchOptions = {}): typeof fetch {
  const { fetch: inner = (...args) => fetch(...args), headers: own = {}, refused = new Set() } = options;
  const userAgent = new Headers(own).get('user-agent');
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (userAgent === null) headers.delete('user-agent');
    else headers.set('user-agent', userAgent);
    const sent = typeof init?.body === 'string' ? withReasoningDetails(init.body) : init?.body;
    for (let tries = 0;; tries++) {
      const body = withoutRefused(sent, refused);
      const response = await inner(input, { ...init, headers, ...(body !== undefined && { body }) });
      if (response.ok) return isStreamed(init?.body) ? await readAnswer(response) : response;
      if (![400, 422, 500].includes(response.status)) return response;
      const error = (await response.text()).slice(0, longestError);
      const request = parsedBody(body);
      const name = response.status === 500 ? patternIn(error, request) : refusedParameter(error, request);
      if (name !== undefined && !refused.has(name) && mayRemove(name, request) && tries < mostRefusals) {
        refused.add(name);
      } else {
        const status = failedCall.test(error) ? 500 : response.status;
        return new Response(error, { status, headers: response.headers });
      }
    }
  };
}

/** A call that the server could not read is its model's failure, and no fault of the request: another try may succeed. */
const failedCall = /"code":\s*"tool_use_failed"/;

/** By its last fields: a long chat is not parsed for it. */
function isStreamed(body: RequestInit['body']): boolean {
  return typeof body === 'string' && /"stream":true(?:,"stream_options":\{[^{}]*\})?\}$/.test(body.slice(-100));
}

function withoutRefused(body: RequestInit['body'], refused: ReadonlySet<string>): RequestInit['body'] {
  if (refused.size === 0 || typeof body !== 'string') return body;
  return JSON.stringify(withoutParameters(parsedBody(body), refused));
}

function parsedBody(body: RequestInit['body']): Readonly<Record<string, unknown>> {
  const value: unknown = typeof body === 'string' ? JSON.parse(body) : {}; // the AI SDK's own text
  return isRecord(value) ? value : asRecord(undefined);
}

type Body = Readonly<Record<string, unknown>>;

/** What the AI SDK adds by itself: a request means the same without it. `max_tokens` has a newer name. */
const removable = ['stream_options', 'parallel_tool_calls', 'strict', 'tool_choice', 'max_tokens', 'pattern'] as const;

/** How servers say that they cannot make a grammar of a schema; inputs and answers are checked here as well. */
const noGrammar =
  /pattern must start|(?:failed to|cannot|could not|unable to|error) (?:parse|parsing|compile|build|create)[^.]{0,20} (?:grammar|regex)|schema conversion failed|(?:invalid|unsupported) (?:regex|grammar|pattern)/i;

/** The keywords of a schema that are about the characters of a text. */
const ofTexts: readonly string[] = ['pattern', 'format', 'minLength', 'maxLength'];

/** Returns `pattern` where the server cannot read one in a schema. */
function patternIn(error: string, body: Body): string | undefined {
  const schemas = JSON.stringify([body['tools'], body['response_format']]);
  return noGrammar.test(error) && ofTexts.some((name) => schemas.includes(`"${name}":`)) ? 'pattern' : undefined;
}

/** The words of a server that does not know a parameter, or does not want it. A value that is too large is no reason to remove a limit. */
const refusal =
  /unsupported|not supported|not support|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs?|fields?|_?forbidden)|extra_forbidden|not permitted|not allowed|not accept|additional ?propert|invalid (?:field|parameter|argument|request argument)|no longer/i;

/**
 * Returns the name of a parameter of the request that an error of its server refuses: the server names it, and says that it does not
 * take it. `undefined` for every other error.
 */
export function refusedParameter(error: string, body: Body): string | undefined {
  if (!refusal.test(error)) return patternIn(error, body);
  const sent = Object.keys(body).filter((name) =>
    body[name] !== undefined && !['messages', 'model', 'stream'].includes(name)
  );
  const names = [...sent, ...(usesStrict(body) ? ['strict'] : [])];
  // The longest first: `max_completion_tokens` is also named where `max_tokens` is refused.
  const named = names.toSorted((a, b) => b.length - a.length).filter((name) =>
    new RegExp(`(?<![a-z0-9_])${name.replace(/[^a-z0-9_]/gi, '')}(?![a-z0-9_])`, 'i').test(error)
  );
  // `tools.0.function.strict`
  return patternIn(error, body) ?? (named.includes('strict') && named.length > 1 ? 'strict' : named[0]);
}

/** Whether the request means the same without the parameter. */
export function mayRemove(name: string, body: Body): boolean {
  if (name === 'tool_choice') return body['tool_choice'] === 'auto';
  return removable.some((one) => one === name);
}

/** Returns the request without the parameters. `max_tokens` is renamed, for it limits what an answer costs. */
export function withoutParameters(body: Body, names: Iterable<string>): Body {
  let left: Body = body;
  for (const name of names) {
    if (name === 'strict') left = withChanged(left, ({ strict: _, ...rest }) => rest);
    else if (name === 'pattern') left = withChanged(left, withoutPatterns);
    else {
      const { [name]: value, ...others } = left;
      left = name === 'max_tokens' && value !== undefined ? { ...others, max_completion_tokens: value } : others;
    }
  }
  return left;
}

function usesStrict(body: Body): boolean {
  return JSON.stringify([body['tools'], body['response_format']]).includes('"strict":');
}

type Change = (value: Body) => Body;

/** Changes what tools and the form of the answer consist of. */
function withChanged(body: Body, change: Change): Body {
  const { tools, response_format: format } = body;
  return {
    ...body,
    ...(Array.isArray(tools) && { tools: tools.map((tool) => withChangedIn(tool, 'function', change)) }),
    ...(isRecord(format) && { response_format: withChangedIn(format, 'json_schema', change) }),
  };
}

function withChangedIn(value: unknown, field: string, change: Change): unknown {
  const { [field]: inner, ...others } = asRecord(value);
  return isRecord(inner) ? { ...others, [field]: change(inner) } : value;
}

function withoutPatterns({ parameters, schema, ...others }: Body): Body {
  const shorter = (value: unknown): unknown =>
    mapSchema(value, (one) => Object.fromEntries(Object.entries(one).filter(([name]) => !ofTexts.includes(name))));
  return {
    ...others,
    ...(parameters !== undefined && { parameters: shorter(parameters) }),
    ...(schema !== undefined && { schema: shorter(schema) }),
  };
}

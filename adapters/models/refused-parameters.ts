/** Parameters that a model server refuses: left out once it has said so, as long as the request means the same without them. */

import { asRecord, isRecord } from '../../src/base/is-record.ts';

type Body = Readonly<Record<string, unknown>>;

/** What the AI SDK adds by itself: a request means the same without it. `max_tokens` has a newer name. */
const removable = ['stream_options', 'parallel_tool_calls', 'strict', 'tool_choice', 'max_tokens'] as const;

/** The words of a server that does not know a parameter, or does not want it. A value that is too large is no reason to remove a limit. */
const refusal =
  /unsupported|not supported|not support|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs?|fields?|_?forbidden)|extra_forbidden|not permitted|not allowed|not accept|additional ?propert|invalid (?:field|parameter|argument|request argument)|no longer/i;

/**
 * Returns the name of a parameter of the request that an error of its server refuses: the server names it, and says that it does not
 * take it. `undefined` for every other error.
 */
export function refusedParameter(error: string, body: Body): string | undefined {
  if (!refusal.test(error)) return undefined;
  const sent = Object.keys(body).filter((name) =>
    body[name] !== undefined && !['messages', 'model', 'stream'].includes(name)
  );
  const names = [...sent, ...(usesStrict(body) ? ['strict'] : [])];
  // The longest first: `max_completion_tokens` is also named where `max_tokens` is refused.
  const named = names.toSorted((a, b) => b.length - a.length).filter((name) =>
    new RegExp(`(?<![a-z0-9_])${name.replace(/[^a-z0-9_]/gi, '')}(?![a-z0-9_])`, 'i').test(error)
  );
  return named.includes('strict') && named.length > 1 ? 'strict' : named[0]; // `tools.0.function.strict`
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
    if (name === 'strict') left = withoutStrict(left);
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

function withoutStrict(body: Body): Body {
  const { tools, response_format: format } = body;
  return {
    ...body,
    ...(Array.isArray(tools) && { tools: tools.map((tool) => withoutStrictIn(tool, 'function')) }),
    ...(isRecord(format) && { response_format: withoutStrictIn(format, 'json_schema') }),
  };
}

function withoutStrictIn(value: unknown, field: string): unknown {
  const { [field]: inner, ...others } = asRecord(value);
  if (!isRecord(inner)) return value;
  const { strict: _, ...rest } = inner;
  return { ...others, [field]: rest };
}

/** The `config` of a tool of type `http`, and its templates, which are filled with inputs and secrets. */

import * as v from 'valibot';
import { checkUrl } from '../base/check-url.ts';
import { isPrivateOriginAllowed, type PrivateOrigins } from '../base/origins.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { SecretText } from '../contracts/egress.ts';

/** An origin alone. Whether it may be reached, {@link unreachableOrigin} says: the composition lists private ones. */
const Origin = v.pipe(
  v.string(),
  v.check(
    (origin) => /^https?:[^{}]+$/.test(origin) && URL.parse(origin)?.origin === origin,
    'must be an origin alone, like "https://api.example.com"',
  ),
);

/** The first origin of a template that is neither public nor listed by the composition. */
export function unreachableOrigin(
  { origin, redirectOrigins }: Pick<HttpToolConfig, 'origin' | 'redirectOrigins'>,
  privateOrigins: PrivateOrigins = [],
): string | undefined {
  return [origin, ...redirectOrigins].find((one) =>
    !isPrivateOriginAllowed(new URL(one), privateOrigins) &&
    !checkUrl(one, { schemes: ['http', 'https'], origins: [one] }).ok
  );
}

const noSecret = v.check(
  (text: string) => secretsIn(text).length === 0,
  'must have no secret: only headers and body fields may',
);

/** A text with `{name}` for an input. */
const Template = v.pipe(v.string(), v.maxLength(2048), noSecret);

/** Such a text that may have `{{secret:NAME}}` too. */
const SecretTemplate = v.pipe(v.string(), v.maxLength(2048));

const Path = v.pipe(Template, v.regex(/^\/[^?#\\\s]*$/, 'must begin with "/" and have no query'));

/** A path with an optional query. */
const UndoUrl = v.pipe(Template, v.regex(/^\/[^#\\\s]*$/, 'must begin with "/": it is on the origin of the tool'));

/** Headers that the connection sets. */
const connectionHeaders =
  /^(?:host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|sec-.*)$/i;

const HeaderName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header'),
  v.check((name) => !connectionHeaders.test(name), 'must not be set by a template: the connection sets it'),
);

/** At most 100 named texts. */
function few<const S extends v.GenericSchema<Record<string, string>>>(fields: S) {
  return v.pipe(fields, v.maxEntries(100, 'must have at most 100 fields'));
}

const HeaderValue = v.pipe(SecretTemplate, v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be on one line, in Latin-1'));

const FieldName = v.pipe(v.string(), v.regex(/^\P{Cc}{1,128}$/u, 'must be the name of a field'));

/** The part of an answer that is returned. */
const Response = v.strictObject({
  as: v.optional(v.picklist(['text', 'json']), 'json'),
  /** The JSON paths to return, like `items.name`; absent: the whole answer. */
  fields: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.maxLength(100))),
  /** The longest text, or JSON as text, in UTF-16 code units. What is longer is cut, and said to be. */
  maxLength: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_048_576)), 16_384),
});

const Body = v.strictObject({
  as: v.optional(v.picklist(['json', 'form']), 'json'),
  fields: few(v.record(FieldName, SecretTemplate)),
});

/** The methods that a template may use. */
export const HttpMethod = v.picklist(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
export type HttpMethod = v.InferOutput<typeof HttpMethod>;

/**
 * The `config` of a tool of type `http`. An entry of query, headers or body whose input is absent is left out; one of the body
 * that is nothing but `{name}` is the input as it is, not as text.
 */
export const HttpToolConfig = v.strictObject({
  origin: Origin,
  method: v.optional(HttpMethod, 'GET'),
  path: v.optional(Path, '/'),
  query: v.optional(few(v.record(v.string(), Template)), {}),
  headers: v.optional(few(v.record(HeaderName, HeaderValue)), {}),
  body: v.optional(Body),
  response: v.optional(Response, {}),
  /** Origins that a redirect may lead to, without secrets. */
  redirectOrigins: v.optional(v.pipe(v.array(Origin), v.maxLength(20)), []),
  /** Lets a method that changes something go without a person. */
  autoApprove: v.optional(v.boolean(), false),
  /**
   * The request that takes a call back, to the same origin with the same headers. `{name}` is an input of the call, and
   * `{output.name}` a field of the answer's JSON.
   */
  undo: v.optional(v.strictObject({ method: HttpMethod, url: UndoUrl, body: v.optional(Body) })),
  maxBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(16_777_216)), 1_048_576),
  timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(120_000)), 10_000),
  /** How often an idempotent method is tried again. */
  retries: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5)), 2),
});
export type HttpToolConfig = v.InferOutput<typeof HttpToolConfig>;
/** The configuration of an HTTP tool, as it is registered: fields with defaults are optional. */
export type HttpToolConfigInput = v.InferInput<typeof HttpToolConfig>;

const readOnly: ReadonlySet<HttpMethod> = new Set(['GET', 'HEAD', 'OPTIONS']);
const idempotent: ReadonlySet<HttpMethod> = new Set([...readOnly, 'PUT', 'DELETE']);

/** Whether a person must let each call go: whatever may change something, unless the template says otherwise. */
export function needsApproval({ method, autoApprove }: Pick<HttpToolConfig, 'method' | 'autoApprove'>): boolean {
  return !readOnly.has(method) && !autoApprove;
}

/** Whether the request only reads (RFC 9110, 9.2.1). */
export function isReadOnly({ method }: Pick<HttpToolConfig, 'method'>): boolean {
  return readOnly.has(method);
}

/** Whether the same request twice does no more than once (RFC 9110, 9.2.2). */
export function isIdempotent({ method }: Pick<HttpToolConfig, 'method'>): boolean {
  return idempotent.has(method);
}

/** The names of all secrets that the template uses. */
export function secretNames({ headers, body, undo }: HttpToolConfig): readonly string[] {
  const fields = [body, undo?.body].flatMap((one) => Object.values(one?.fields ?? {}));
  return [...Object.values(headers), ...fields].flatMap(secretsIn);
}

/** One part of a template: text as it is, the name of an input, or the name of a secret. */
type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'input'; readonly name: string }
  | { readonly kind: 'secret'; readonly name: string };

const place = /\{\{secret:([A-Za-z0-9][\w.-]*)\}\}|\{([A-Za-z_][\w-]*)\}/g;

/** Returns the parts of a stored text: `{name}` is an input, `{{secret:NAME}}` a secret, all else is text. */
export function parseTemplate(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const { 0: { length }, 1: secret, 2: input, index } of template.matchAll(place)) {
    if (index > end) parts.push({ kind: 'text', text: template.slice(end, index) });
    if (secret !== undefined) parts.push({ kind: 'secret', name: secret });
    if (input !== undefined) parts.push({ kind: 'input', name: input });
    end = index + length;
  }
  if (end < template.length) parts.push({ kind: 'text', text: template.slice(end) });
  return parts;
}

/** The names of the secrets in a template. */
export function secretsIn(template: string): readonly string[] {
  return parseTemplate(template).flatMap((part) => (part.kind === 'secret' ? [part.name] : []));
}

/** What fills a template. */
export interface TemplateValues {
  readonly input: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, Secret>>;
}

/** Returns the filled text in parts, secrets still closed; `undefined` when an input that it names is absent. */
export function fillTemplate(template: string, { input, secrets }: TemplateValues): SecretText | undefined {
  const parts = parseTemplate(template);
  if (parts.some((part) => part.kind === 'input' && isAbsent(input, part.name))) return undefined;
  return parts.map((part) => {
    if (part.kind === 'text') return part.text;
    return part.kind === 'input' ? toText(part.name, input[part.name]) : secretOf(part.name, secrets);
  });
}

/** Whether the input has nothing of its own under this name. */
export function isAbsent(input: Readonly<Record<string, unknown>>, name: string): boolean {
  return !Object.hasOwn(input, name) || input[name] === undefined || input[name] === null;
}

/** Returns a value as text. */
export function toText(name: string, value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.isWellFormed()) return value;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot fill in the input "${name}": it must be text, a number or a boolean`,
    {
      details: { reason: 'not_text', name },
    },
  );
}

function secretOf(name: string, secrets: Readonly<Record<string, Secret>>): Secret {
  const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  if (secret !== undefined) return secret;
  throw new PinnaceError('forbidden', `Cannot use the secret "${name}": the call was not given it`, {
    details: { reason: 'secret_not_given' },
  });
}

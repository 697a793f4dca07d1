/** Makes the request that a template and an input describe. It holds no secret. */

import { PinnaceError } from '../../base/errors.ts';
import type { SecretText } from '../../contracts/secret-source.ts';
import type { HttpToolConfig } from './config.ts';
import { fillTemplate, isAbsent, parseTemplate, secretsIn, type TemplateValues, toText } from './template.ts';

/** A request, and the secrets that the egress puts into it. */
export interface TemplateRequest {
  readonly request: Request;
  readonly secretHeaders: Readonly<Record<string, SecretText>>;
  readonly secretFields: Readonly<Record<string, SecretText>>;
}

/** Returns the request. */
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

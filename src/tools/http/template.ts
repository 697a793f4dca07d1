/** Texts with places for input and secrets. No language: a place is a name, and what is put there is never read again. */

import { PinnaceError } from '../../base/errors.ts';
import type { SecretText } from '../../contracts/secret-source.ts';
import type { Secret } from '../../base/secret.ts';

/** One part of a template: text as it is, the name of an input, or the name of a secret. */
export type TemplatePart =
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

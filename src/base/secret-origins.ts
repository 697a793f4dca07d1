/** The destinations of secrets: how they are declared, and the one check that every secret passes before anything receives it. */

import { PinnaceError } from './errors.ts';
import { isOrigin } from './private-origins.ts';
import type { Secret, SecretOrigins } from './secret.ts';

/** Stands among origins for functions of the composition. */
export const codeDestination = 'code';

/** What a source says of secrets whose definition declares no origins. */
export interface UnboundSecrets {
  /** `allow`: they go to any origin of a record. Absent: they are refused everywhere. */
  readonly unboundSecrets?: 'allow' | undefined;
}

/**
 * Returns the destinations of a secret for {@link Secret}: those that its definition declares, and without any what the source says of
 * unbound secrets.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_secret_origin`.
 */
export function secretOrigins(
  id: string,
  declared: readonly string[] | undefined,
  { unboundSecrets }: UnboundSecrets = {},
): SecretOrigins {
  if (declared === undefined) return unboundSecrets === 'allow' ? 'any' : [];
  const wrong = declared.find((origin) => !isDestination(origin));
  if (wrong === undefined) return declared;
  const advice = 'write an origin such as "https://crm.example.com", or "code" for functions of the composition';
  throw new PinnaceError(
    'invalid_argument',
    `Cannot bind secret "${id}" to ${JSON.stringify(wrong)}: ${advice}`,
    { details: { reason: 'invalid_secret_origin', secret: id } },
  );
}

/** Whether a text is a valid origin of a secret. */
export function isDestination(text: string): boolean {
  return text === codeDestination || isOrigin(text);
}

/**
 * Returns the secret if this origin may receive it; without an origin, if functions of the composition may.
 *
 * @throws PinnaceError `forbidden` with the reason `secret_origin_mismatch`.
 */
export function requireDestination(secret: Secret, origin: string | undefined): Secret {
  const { id, origins } = secret;
  if (origins === 'any' || origins.includes(origin ?? codeDestination)) return secret;
  const destination = origin === undefined ? 'code of the composition' : JSON.stringify(origin);
  const why = origins.length === 0
    ? 'it declares no origins; declare them where the secret is defined'
    : `it may go to ${origins.map((one) => JSON.stringify(one)).join(', ')} only`;
  throw new PinnaceError('forbidden', `Cannot give secret "${id}" to ${destination}: ${why}`, {
    details: { reason: 'secret_origin_mismatch', secret: id, origin: origin ?? codeDestination },
  });
}

/** The origin of a URL that would receive a secret; `undefined` for what is no URL. */
export function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

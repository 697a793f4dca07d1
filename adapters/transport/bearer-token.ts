/** Reads bearer tokens (RFC 6750). */

/**
 * Returns the token of `Authorization: Bearer …`; `undefined` where there is none, or a longer one. The scheme is case-insensitive
 * (RFC 9110, section 11.1).
 */
export function bearerTokenOf({ headers }: Request, maxLength: number): string | undefined {
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  return token !== undefined && token.length <= maxLength ? token : undefined;
}

/** Whether a token has the form of a JSON Web Token in its compact serialization (RFC 7515). */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

import type { McpServer } from '../../../src/registry/index.ts';

/** What a person approves of a sign-in. */
export function factsOf(
  auth: NonNullable<NonNullable<McpServer['pinned']>['auth']>,
): readonly (readonly [string, string])[] {
  const { issuer, resource, authorizationEndpoint, tokenEndpoint, scopes, requested } = auth;
  return [
    ['Issuer', issuer],
    ['Tokens are for', resource],
    ['People sign in at', authorizationEndpoint],
    ['Tokens come from', tokenEndpoint],
    ['Scopes', (requested ?? scopes).join(' ') || 'None'],
  ];
}

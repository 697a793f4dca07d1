/** What signing in works with. */

import type { McpSignIn } from '../../contracts/mcp/sign-in.ts';
import type { SecretSource } from '../../contracts/secret-source.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { Seals } from './seal.ts';

/** The ports, and the seals of a tenant. */
export interface SignInContext {
  readonly oauth: McpSignIn;
  readonly storage: Storage;
  readonly secrets: SecretSource | undefined;
  readonly seals: (tenant: string) => Seals;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

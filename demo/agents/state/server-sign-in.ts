/** The sign-in of an MCP server, as its page in the registry shows it. */

import { type ReadonlySignal, signal } from '@preact/signals';
import { fromData } from '../../../src/base/errors.ts';
import type { McpGrant } from '../../../src/contracts/mcp/sign-in.ts';
import { createSignIn, type SignInAttempt } from '../../mcp/state/sign-in.ts';
import { signInProblem } from '../../mcp/state/sign-in-words.ts';
import type { SignInControl } from '../../control/registry-control.ts';
import type { Answer } from '../../control/answer.ts';

export interface ServerSignIn {
  /** `undefined` until the first answer. */
  readonly grant: ReadonlySignal<McpGrant | undefined>;
  readonly attempt: SignInAttempt;
  /** Why the grant could not be read, or the sign-out failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  load(): Promise<void>;
  signOut(): Promise<void>;
}

interface ServerSignInOptions {
  readonly serverId: string;
  readonly issuerHost: string;
  readonly control: SignInControl;
  /** Called after a sign-in. */
  readonly onSignedIn: () => void;
}

/** Creates it. Requests nothing before `load`. */
export function createServerSignIn(
  { serverId, issuerHost, control, onSignedIn }: ServerSignInOptions,
): ServerSignIn {
  const grant = signal<McpGrant | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);

  async function attemptTo<T>(asking: () => Promise<Answer<T>>): Promise<T | undefined> {
    problem.value = undefined;
    try {
      return valueOf(await asking());
    } catch (error) {
      problem.value = signInProblem(error, issuerHost);
      return undefined;
    }
  }

  async function load(): Promise<void> {
    const found = await attemptTo(() => control.grant(serverId));
    if (found) grant.value = found;
  }

  return {
    grant,
    problem,
    load,
    attempt: createSignIn({
      issuerHost,
      start: async (redirectUri) => valueOf(await control.startSignIn(serverId, redirectUri)),
      finish: async (callback) => valueOf(await control.finishSignIn(callback)),
      onSignedIn() {
        void load();
        onSignedIn();
      },
    }),
    async signOut() {
      await attemptTo(() => control.signOut(serverId));
      const failure = problem.value;
      await load();
      problem.value ??= failure; // the tokens are erased here also where the server could not revoke them
    },
  };
}

function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw fromData(answer.error);
}

import { type ReadonlySignal, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { fromData } from '../../../src/base/errors.ts';
import type { McpGrant } from '../../../src/contracts/mcp/sign-in.ts';
import type { McpServer } from '../../../src/registry/index.ts';
import type { Answer } from '../../control/answer.ts';
import type { SignInControl } from '../../control/registry-control.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { Facts } from '../../kit/facts.tsx';
import { formatTime } from '../../kit/format.ts';
import { Problem } from '../../kit/problem.tsx';
import { signInProblem } from '../../mcp/state/sign-in-words.ts';
import { createSignIn, type SignInAttempt } from '../../mcp/state/sign-in.ts';
import { SignInSteps } from '../../mcp/ui/sign-in-steps.tsx';
import type { McpCheck } from '../state/mcp-check.ts';
import { factsOf } from './sign-in-facts.ts';
import { Button } from '../../kit/button.tsx';

interface SignInSectionProps {
  readonly server: McpServer;
  readonly check: McpCheck;
  readonly control: SignInControl;
}

/** Where people sign in to an MCP server, as it was approved, and whether this person has. */
export function SignInSection({ server, check, control }: SignInSectionProps): JSX.Element {
  const issuerHost = hostOf(server.auth?.issuer ?? '');
  const signIn = useMemo(
    () => createServerSignIn({ serverId: server.id, issuerHost, control, onSignedIn: () => void check.look() }),
    [server.id, issuerHost],
  );
  useEffect(() => {
    void signIn.load();
    return () => signIn.attempt.leave();
  }, [signIn, server.revision]);
  const grant = signIn.grant.value;
  const isSignedIn = grant?.state === 'active';
  return (
    <section class='mcp-server-sign-in' data-testid='mcp-sign-in' data-state={grant?.state}>
      <h2>Sign-in</h2>
      {server.pinned?.auth ? <Facts facts={factsOf(server.pinned.auth)} /> : (
        <p class='registry-faint'>
          People sign in at {issuerHost}. Validate the server and approve it before the first sign-in.
        </p>
      )}
      {grant && server.pinned?.auth && (
        <p data-testid='mcp-grant'>
          {isSignedIn
            ? `You are signed in${
              grant.expiresAt === undefined
                ? ''
                : `; the token is renewed before ${formatTime(new Date(grant.expiresAt).toISOString())}`
            }.`
            : grant.state === 'broken'
            ? 'The sign-in is no longer valid. Sign in again.'
            : 'You are not signed in.'}
          {isSignedIn && grant.scopes.length > 0 && ` Granted: ${grant.scopes.join(' ')}.`}
        </p>
      )}
      <Problem text={signIn.problem.value} testId='mcp-grant-problem' />
      <SignInSteps attempt={signIn.attempt} issuerHost={issuerHost} />
      {server.pinned?.auth && (
        <div class='button-row'>
          <Button testId='mcp-sign-in-open' onClick={() => signIn.attempt.begin()}>
            {isSignedIn ? 'Sign in again' : 'Sign in'}
          </Button>
          {isSignedIn && (
            <Button onClick={() => void signIn.signOut()}>
              Sign out
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

/** The sign-in of an MCP server, as its page in the registry shows it. */
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

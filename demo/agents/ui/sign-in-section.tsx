import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { McpServer } from '../../../src/registry/index.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { Facts } from '../../kit/facts.tsx';
import { Problem } from '../../kit/problem.tsx';
import { SignInSteps } from '../../mcp/ui/sign-in-steps.tsx';
import type { McpCheck } from '../state/mcp-check.ts';
import { createServerSignIn } from '../state/server-sign-in.ts';
import type { SignInControl } from '../../control/registry-control.ts';
import { formatTime } from '../../kit/format.ts';
import { factsOf } from './sign-in-facts.ts';

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
          <button type='button' class='button' data-testid='mcp-sign-in-open' onClick={() => signIn.attempt.begin()}>
            {isSignedIn ? 'Sign in again' : 'Sign in'}
          </button>
          {isSignedIn && (
            <button
              type='button'
              class='button'
              onClick={() => void signIn.signOut()}
            >
              Sign out
            </button>
          )}
        </div>
      )}
    </section>
  );
}

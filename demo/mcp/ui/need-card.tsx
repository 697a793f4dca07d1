import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import { answeredNeed } from '../../chat/state/approval.ts';
import type { ToolPart } from '../../chat/state/message.ts';
import { type Need, readAs } from '../../chat/state/run-data.ts';
import { NeedData } from '../state/need-data.ts';
import { createSignIn, type SignInAttempt } from '../state/sign-in.ts';
import { type NeedCardProps, QuestionCard } from './question-card.tsx';
import { SignInSteps } from './sign-in-steps.tsx';
import { Button } from '../../kit/button.tsx';

/** What an MCP server needs of the person before a call goes on. */
export function NeedCard(
  { need: given, ...props }: Omit<NeedCardProps, 'need'> & { readonly need: Need },
): JSX.Element {
  const need = readAs(NeedData, given);
  if (!need) return <p class='field-error'>This page cannot show the server’s question. Reload the page.</p>;
  return need.kind === 'sign_in' ? <SignInCard {...props} need={need} /> : <QuestionCard {...props} need={need} />;
}

/** Asks the person to sign in for a call that waits. */
export function SignInCard(props: NeedCardProps): JSX.Element {
  const { part, need, via, playground } = props;
  const id = useId();
  const attempt = attemptFor(props);
  const { server, signIn } = need;
  const decline = (): void => {
    attempt.leave();
    playground.decide(part, { approved: false, reason: 'The user did not sign in' });
  };
  return (
    <section class='approval mcp-need' aria-labelledby={`${id}-title`} data-testid='sign-in'>
      <h3 id={`${id}-title`}>Sign in to {server.alias}</h3>
      <p>
        {server.alias} ({server.host}) requires you to sign in at{' '}
        <b>{signIn?.issuerHost}</b>. The call continues afterwards.
      </p>
      {signIn !== undefined && signIn.scopes.length > 0 && <Scopes {...signIn} />}
      {via === undefined && <VaultHint playground={playground} />}
      <SignInSteps attempt={attempt} issuerHost={signIn?.issuerHost ?? ''} />
      <div class='button-row'>
        <Button kind='primary' testId='sign-in-open' onClick={() => attempt.begin()}>
          Sign in
        </Button>
        <Button testId='sign-in-decline' onClick={decline}>Not now</Button>
      </div>
    </section>
  );
}

/** An attempt goes on while its card is out of view. */
const attempts = new WeakMap<ToolPart, { readonly needId: string; readonly attempt: SignInAttempt }>();

function attemptFor({ part, need, via, playground }: NeedCardProps): SignInAttempt {
  const known = attempts.get(part);
  if (known?.needId === need.id) return known.attempt;
  const signIns = async () => (await playground.rooms(via)).mcpSignIns;
  const attempt = createSignIn({
    issuerHost: need.signIn?.issuerHost ?? '',
    start: async (redirectUri) =>
      await (await signIns()).start(need.server.id, { redirectUri, interruptionId: need.id }),
    finish: async (callback) => await (await signIns()).finish(callback),
    onSignedIn() {
      answeredNeed(part, 'accept');
      playground.decide(part, { approved: true }, () => Promise.resolve()); // the sign-in has answered the interruption
    },
  });
  attempts.set(part, { needId: need.id, attempt });
  return attempt;
}

/** A step-up names what is new. */
function Scopes({ scopes, added }: NonNullable<NeedData['signIn']>): JSX.Element {
  const isStepUp = added.length > 0 && added.length < scopes.length;
  return (
    <p>
      {isStepUp ? 'Additional permissions requested: ' : 'Permissions requested: '}
      {(isStepUp ? added : scopes).map((scope) => <code key={scope} class='code-chip'>{scope}</code>)}
    </p>
  );
}

/** How long the sign-in lasts depends on the vault. */
function VaultHint({ playground }: { playground: Playground }): JSX.Element | null {
  const isOpen = useSignal<boolean | undefined>(undefined);
  useEffect(() => {
    playground.registry.connect().vault().then(
      (answer) => (isOpen.value = answer.ok && answer.value.isOpen),
      () => undefined,
    );
  }, []);
  if (isOpen.value === undefined) return null;
  return (
    <p class='field-help' data-testid='sign-in-vault' data-open={isOpen.value}>
      {isOpen.value
        ? 'You stay signed in: the tokens are encrypted with the vault’s key.'
        : 'You are signed in until you close this page. To stay signed in, open the vault first: Registry, then Secrets.'}
    </p>
  );
}

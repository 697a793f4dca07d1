import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { signInWithOpenRouter } from '../../settings/state/openrouter.ts';
import { Problem } from '../../kit/problem.tsx';

/** Signs in with OpenRouter, which then sends a key for this page. */
export function OpenRouter({ onKey }: { onKey: (key: string) => void }): JSX.Element {
  const state = useSignal<'idle' | 'waiting' | 'done'>('idle');
  const problem = useSignal<string | undefined>(undefined);
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const signIn = async (): Promise<void> => {
    abort.current = new AbortController();
    problem.value = undefined;
    state.value = 'waiting';
    const reply = await signInWithOpenRouter({
      returnTo: location.href,
      signal: abort.current.signal,
      openWindow: (url) => window.open(url, 'pinnace-sign-in', 'popup,width=520,height=720') !== null,
    });
    if (reply.ok) onKey(reply.value);
    else problem.value = reply.text;
    state.value = reply.ok ? 'done' : 'idle';
  };
  return (
    <div class='fields'>
      <div class='button-row'>
        <button
          type='button'
          class='button'
          data-testid='openrouter-sign-in'
          disabled={state.value === 'waiting'}
          onClick={() => void signIn()}
        >
          {state.value === 'waiting' ? 'Waiting for OpenRouter…' : 'Sign in with OpenRouter'}
        </button>
        {state.value === 'waiting' && (
          <button type='button' class='button' onClick={() => abort.current?.abort()}>Cancel sign-in</button>
        )}
      </div>
      <p class='field-help' role='status' data-testid='openrouter-state' data-state={state.value}>
        {state.value === 'done'
          ? 'Signed in: the key is filled in. Choose a model below.'
          : 'One account for many models, some of them free. OpenRouter sends the key to this page; you do not copy it.'}
      </p>
      <Problem text={problem.value} testId='openrouter-problem' />
    </div>
  );
}

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { AppQuestion } from '../state/app-host.ts';
import { UrlQuestion } from './url-question.tsx';

/** An app can time a question to a click in its frame: buttons wait until a person has seen them. */
const unreadyMs = 700;

/** What an app wants, for a person to decide. */
export function AppQuestionCard({ question, alias }: { question: AppQuestion; alias: string }): JSX.Element {
  const id = useId();
  const isReady = useSignal(false);
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    card.current?.scrollIntoView({ block: 'nearest' });
    isReady.value = false;
    const timer = setTimeout(() => (isReady.value = true), unreadyMs);
    return () => clearTimeout(timer);
  }, [question]);
  const isCall = question.type === 'call';
  return (
    <div
      ref={card}
      class='approval'
      role='group'
      aria-labelledby={id}
      data-testid='app-question'
      data-type={question.type}
    >
      <h4 id={id}>
        {isCall ? `Allow the app from ${alias} to make this call?` : `The app from ${alias} wants to open a link`}
      </h4>
      {question.type === 'call'
        ? <p class='mcp-app-call' data-testid='app-call'>{question.text}</p>
        : isReady.value && <UrlQuestion ask={{ url: question.url }} onOpen={() => question.answer(true)} />}
      <div class='approval-answers'>
        {isCall && (
          <button
            type='button'
            class='button is-primary'
            data-testid='app-approve'
            disabled={!isReady.value}
            onClick={() => question.answer(true)}
          >
            Approve
          </button>
        )}
        <button
          type='button'
          class='button'
          data-testid='app-deny'
          disabled={!isReady.value}
          onClick={() => question.answer(false)}
        >
          {isCall ? 'Deny' : 'Don’t open'}
        </button>
      </div>
    </div>
  );
}

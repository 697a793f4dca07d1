import { type JSX, render } from 'preact';
import type { ToolQuestion } from '../../../adapters/webmcp/page.ts';
import { Dialog } from '../../kit/dialog.tsx';

/** Asks in a dialog over whatever the page shows. Closing the dialog denies; the dialog closes when the signal aborts. */
export async function confirmCall(question: ToolQuestion): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const root = document.body.appendChild(document.createElement('div'));
  const deny = (): void => resolve(false);
  question.signal.addEventListener('abort', deny, { once: true });
  if (question.signal.aborted) deny();
  render(<CallQuestion question={question} onDecide={resolve} />, root);
  try {
    return await promise;
  } finally {
    question.signal.removeEventListener('abort', deny);
    render(null, root);
    root.remove();
  }
}

function CallQuestion({ question: { name, text }, onDecide }: {
  readonly question: ToolQuestion;
  readonly onDecide: (isApproved: boolean) => void;
}): JSX.Element {
  return (
    <Dialog class='keys' label='Approve a call' testId='webmcp-question' onClose={() => onDecide(false)}>
      <h2>Your browser’s agent wants to call {name}</h2>
      <p class='webmcp-call' data-testid='webmcp-text'>{text}</p>
      <div class='dialog-foot'>
        <button type='button' class='button' data-testid='webmcp-deny' onClick={() => onDecide(false)}>Deny</button>
        <button type='button' class='button is-primary' data-testid='webmcp-approve' onClick={() => onDecide(true)}>
          Approve
        </button>
      </div>
    </Dialog>
  );
}

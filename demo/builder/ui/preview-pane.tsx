import type { JSX } from 'preact';
import { Problem } from '../../kit/problem.tsx';
import type { Playground } from '../../app/state/playground.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import type { Builder } from '../state/builder.ts';
import { createPreview, type Preview } from '../state/preview.ts';
import { SmallComposer } from './small-composer.tsx';
import { SmallThread } from './small-thread.tsx';

/** A chat with the agent as it is written, beside its form. */
export function PreviewPane({ builder, playground }: { builder: Builder; playground: Playground }): JSX.Element {
  const preview = previewOf(builder)(playground);
  return (
    <aside class='builder-preview' aria-label='Preview' data-testid='builder-preview'>
      <h2>Preview</h2>
      <Problem text={preview.problem.value} testId='preview-problem' />
      <SmallThread playground={preview.playground} label='Preview chat'>
        <p class='registry-faint'>Chat with the agent as it is now. Nothing is saved.</p>
      </SmallThread>
      {preview.isStale.value && (
        <p class='registry-faint' role='status' data-testid='preview-stale'>
          The agent has changed. The next message starts a new chat.
        </p>
      )}
      <SmallComposer
        draft={builder.previewDraft}
        isBusy={preview.isRunning.value}
        label='Message to the preview'
        sendLabel='Send'
        stopLabel='Stop'
        name='preview'
        onSend={() => void preview.send()}
        onStop={() => preview.stop()}
      />
    </aside>
  );
}

/** The chat of the preview stays as long as the form does. */
const previewOf = oncePer((builder: Builder) =>
  oncePer((playground: Playground): Preview => createPreview({ builder, playground }))
);

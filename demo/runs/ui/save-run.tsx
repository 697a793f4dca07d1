import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Inspector } from '../state/inspector.ts';
import type { OpenedRun } from '../state/opened-run.ts';
import { nameOfFile, type RunFile, writeRunFile } from '../state/run-file.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { saveFile } from '../../kit/save-file.ts';
import { Button } from '../../kit/button.tsx';

interface SaveRunProps {
  readonly run: OpenedRun;
  readonly inspector: Inspector;
}

/** Saves the run as a file, with or without prompts. */
export function SaveRun({ run, inspector }: SaveRunProps): JSX.Element {
  const isOpen = useSignal(false);
  const close = (): void => void (isOpen.value = false);
  return (
    <>
      <Button
        icon='save'
        testId='run-save'
        aria-haspopup='dialog'
        onClick={() => {
          isOpen.value = true;
          void inspector.refreshPrompts();
        }}
      >
        Save as a file
      </Button>
      {isOpen.value && <SaveDialog run={run} inspector={inspector} onClose={close} />}
    </>
  );
}

function SaveDialog({ run, inspector, onClose }: SaveRunProps & { onClose: () => void }): JSX.Element {
  const withPrompts = useSignal(false);
  const count = run.prompts.value?.length ?? 0;
  const save = async (): Promise<void> => {
    const file = await inspector.toFile({ withPrompts: withPrompts.value });
    if (file) download(file);
    onClose();
  };
  return (
    <Dialog class='dialog-plain save-run' label='Save the run as a file' testId='save-run' onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <h2>Save run as a file</h2>
        <p>
          The file contains the run’s events and tool names, but no message texts. Open it again on this page.
        </p>
        <label class='tick' data-disabled={count === 0}>
          <input
            type='checkbox'
            data-testid='save-prompts'
            checked={withPrompts.value}
            disabled={count === 0}
            onChange={({ currentTarget }) => (withPrompts.value = currentTarget.checked)}
          />
          Include prompts
        </label>
        <p class='field-help'>
          {count === 0
            ? 'No prompts available: they are held only while the page is open.'
            : 'Prompts contain the whole chat up to this run. Known secrets are redacted.'}
        </p>
        <div class='dialog-foot'>
          <Button onClick={onClose}>Cancel</Button>
          <Button type='submit' kind='primary' testId='save-run-now'>Save</Button>
        </div>
      </form>
    </Dialog>
  );
}

function download(file: RunFile): void {
  saveFile(new Blob([writeRunFile(file)], { type: 'application/json' }), nameOfFile(file.head));
}

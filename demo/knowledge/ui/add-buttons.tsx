import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { chosenFiles } from '../state/dropped-files.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { Button } from '../../kit/button.tsx';

/** The ways to choose files. */
export function AddButtons({ panel }: { panel: KnowledgePanel }): JSX.Element {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = ({ currentTarget }: { currentTarget: HTMLInputElement }): void => {
    const uploads = chosenFiles(currentTarget.files ?? new DataTransfer().files);
    currentTarget.value = ''; // the same file may be chosen again
    if (uploads.length > 0) void panel.add(uploads);
  };
  const isAdding = panel.adding.value !== undefined;
  return (
    <div class='button-row'>
      <input ref={files} type='file' multiple hidden data-testid='knowledge-input' onChange={take} />
      <input
        ref={(input) => {
          folder.current = input;
          if (input) input.webkitdirectory = true; // no attribute that JSX knows
        }}
        type='file'
        hidden
        data-testid='knowledge-folder-input'
        onChange={take}
      />
      <Button icon='plus' testId='knowledge-add' disabled={isAdding} onClick={() => files.current?.click()}>
        Add files
      </Button>
      <Button icon='area' testId='knowledge-add-folder' disabled={isAdding} onClick={() => folder.current?.click()}>
        Folder
      </Button>
    </div>
  );
}

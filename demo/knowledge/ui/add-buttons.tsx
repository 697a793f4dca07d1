import type { JSX } from 'preact';
import { chosenFiles } from '../state/dropped-files.ts';
import type { KnowledgePanel } from '../state/knowledge-panel.ts';
import { FileButton } from '../../kit/file-button.tsx';

/** The ways to choose files. */
export function AddButtons({ panel }: { panel: KnowledgePanel }): JSX.Element {
  const isAdding = panel.adding.value !== undefined;
  const take = (files: readonly File[]): void => {
    const uploads = chosenFiles(files);
    if (uploads.length > 0) void panel.add(uploads);
  };
  return (
    <div class='button-row'>
      <FileButton
        icon='plus'
        testId='knowledge-add'
        inputTestId='knowledge-input'
        multiple
        disabled={isAdding}
        onFiles={take}
      >
        Add files
      </FileButton>
      <FileButton
        icon='area'
        testId='knowledge-add-folder'
        inputTestId='knowledge-folder-input'
        isFolder
        disabled={isAdding}
        onFiles={take}
      >
        Folder
      </FileButton>
    </div>
  );
}

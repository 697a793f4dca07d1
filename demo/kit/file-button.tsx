import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button, type ButtonProps, IconButton } from './button.tsx';

interface FileButtonProps extends Omit<ButtonProps, 'onClick'> {
  /** Of one that is a clip only: its label is read out, and shown under the pointer. */
  readonly label?: string;
  /** Of the input behind the button. */
  readonly inputTestId: string;
  readonly accept?: string;
  readonly multiple?: boolean;
  /** Whether a folder is chosen, with all its files. */
  readonly isFolder?: boolean;
  readonly onFiles: (files: readonly File[]) => unknown;
}

/** A button that opens the file dialog. */
export function FileButton(
  { label, inputTestId, accept, multiple = false, isFolder = false, onFiles, ...rest }: FileButtonProps,
): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const open = (): void => input.current?.click();
  useLayoutEffect(() => {
    if (input.current) input.current.webkitdirectory = isFolder; // no attribute that JSX knows
  }, [isFolder]);
  return (
    <>
      <input
        ref={input}
        type='file'
        hidden
        accept={accept}
        multiple={multiple}
        data-testid={inputTestId}
        onChange={({ currentTarget }) => {
          const files = [...currentTarget.files ?? []];
          currentTarget.value = ''; // the same file may be chosen again
          if (files.length > 0) void onFiles(files);
        }}
      />
      {label === undefined
        ? <Button {...rest} onClick={open} />
        : <IconButton icon='clip' label={label} {...rest} onClick={open} />}
    </>
  );
}

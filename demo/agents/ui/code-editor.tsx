import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Button } from '../../kit/button.tsx';

/** A place in the code, from 1, and what is wrong there. */
export interface Mark {
  readonly line: number;
  readonly column?: number;
  readonly text: string;
}

interface CodeEditorProps {
  readonly label: string;
  readonly help: string;
  readonly value: string;
  readonly mark: Mark | undefined;
  readonly onInput: (value: string) => void;
}

/** Code with the numbers of its lines. Tab indents; after Esc it leaves, as everywhere. */
export function CodeEditor({ label, help, value, mark, onInput }: CodeEditorProps): JSX.Element {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLOListElement>(null);
  const isLeaving = useSignal(false);
  const lines = value.split('\n').length;
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): void => {
    if (event.key === 'Escape') {
      isLeaving.value = true;
      event.preventDefault(); // the page stays
      return;
    }
    if (event.key === 'Tab' && isLeaving.value) return;
    isLeaving.value = false;
    if (edit(event)) onInput(event.currentTarget.value);
  };
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      <div class='code-editor' data-leaving={isLeaving.value}>
        <ol ref={numbers} class='code-lines' aria-hidden='true'>
          {Array.from({ length: lines }, (_, i) => <li key={i} data-wrong={mark?.line === i + 1}>{i + 1}</li>)}
        </ol>
        <textarea
          id={id}
          ref={area}
          rows={Math.min(Math.max(lines, 8), 24)}
          spellcheck={false}
          autocomplete='off'
          autocapitalize='off'
          wrap='off'
          data-testid='code-editor'
          aria-invalid={mark !== undefined}
          aria-describedby={`${id}-help`}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={onKeyDown}
          onBlur={() => (isLeaving.value = false)}
          onScroll={({ currentTarget }) => {
            if (numbers.current) numbers.current.scrollTop = currentTarget.scrollTop;
          }}
        />
      </div>
      <p id={`${id}-help`} class={mark ? 'field-error' : 'field-help'} data-testid='code-mark' data-line={mark?.line}>
        {mark
          ? (
            <>
              Line {mark.line}
              {mark.column !== undefined && `, column ${mark.column}`}: {mark.text}.{' '}
              <Button kind='quiet' onClick={() => goTo(area.current, mark)}>Go to error</Button>
            </>
          )
          : help}
      </p>
    </div>
  );
}

/** Indents, or keeps the line's indentation. Returns whether it did. */
function edit(event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): boolean {
  const { currentTarget: area, key, shiftKey, isComposing } = event;
  if (isComposing || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (key === 'Tab' && !shiftKey) insert(area, '  ');
  else if (key === 'Tab') outdent(area);
  else if (key === 'Enter') {
    const line = area.value.slice(area.value.lastIndexOf('\n', area.selectionStart - 1) + 1, area.selectionStart);
    insert(area, `\n${/^\s*/.exec(line)?.[0] ?? ''}${/[([{]\s*$/.test(line) ? '  ' : ''}`);
  } else return false;
  event.preventDefault();
  return true;
}

function insert(area: HTMLTextAreaElement, text: string): void {
  area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
}

function outdent(area: HTMLTextAreaElement): void {
  const start = area.value.lastIndexOf('\n', area.selectionStart - 1) + 1;
  const indent = /^ {1,2}/.exec(area.value.slice(start))?.[0].length ?? 0;
  area.setRangeText('', start, start + indent, 'preserve');
}

function goTo(area: HTMLTextAreaElement | null, { line, column = 1 }: Mark): void {
  if (!area) return;
  const before = area.value.split('\n').slice(0, line - 1).join('\n');
  const at = Math.min(before.length + (line > 1 ? 1 : 0) + column - 1, area.value.length);
  area.focus();
  area.setSelectionRange(at, at);
}

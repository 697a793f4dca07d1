import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Button } from './button.tsx';

const shownAtFirst = 40;

/** Ids that lead to their records. */
export function Chips({ ids, onOpen }: { ids: readonly string[]; onOpen: (id: string) => void }): JSX.Element {
  const isWhole = useSignal(false);
  const shown = isWhole.value ? ids : ids.slice(0, shownAtFirst);
  return (
    <ul class='chips'>
      {shown.map((id) => (
        <li key={id}>
          <button type='button' class='chip registry-chip' onClick={() => onOpen(id)}>{id}</button>
        </li>
      ))}
      {shown.length < ids.length && (
        <li>
          <Button kind='quiet' onClick={() => (isWhole.value = true)}>
            {ids.length - shown.length} more
          </Button>
        </li>
      )}
    </ul>
  );
}

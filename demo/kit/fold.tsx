import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';
import { Button } from './button.tsx';

interface FoldProps {
  readonly icon: IconName;
  readonly label: ComponentChildren;
  readonly testId: string;
  readonly text: string;
}

/** A text that is collapsed at first, behind a button. */
export function Fold({ icon, label, testId, text }: FoldProps): JSX.Element {
  const isOpen = useSignal(false);
  const id = useId();
  return (
    <section class='fold' data-testid={testId}>
      <Button
        kind='quiet'
        icon={icon}
        aria-expanded={isOpen.value}
        aria-controls={id}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span>{label}</span>
        <Icon name='chevron' />
      </Button>
      <div id={id} class='fold-text' hidden={!isOpen.value}>{isOpen.value && text}</div>
    </section>
  );
}

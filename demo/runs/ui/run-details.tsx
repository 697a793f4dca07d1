import type { ComponentChildren, JSX } from 'preact';
import { Status } from './status.tsx';
import { IconButton } from '../../kit/button.tsx';

interface RunDetailsProps {
  readonly label: string;
  readonly testId: string;
  readonly status: Parameters<typeof Status>[0]['status'];
  readonly title: string;
  /** The test id of what has the focus once it is closed. */
  readonly from: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Everything about what is selected in a run, beside it. */
export function RunDetails(props: RunDetailsProps): JSX.Element {
  const { label, testId, status, title, from, onClose, children } = props;
  return (
    <aside class='run-details' aria-label={label} data-testid={testId}>
      <header>
        <Status status={status} />
        <h2>{title}</h2>
        <IconButton
          icon='cross'
          label='Close details'
          testId={`${testId}-close`}
          onClick={() => {
            onClose();
            document.querySelector<HTMLElement>(`[data-testid=${from}]`)?.focus();
          }}
        />
      </header>
      {children}
    </aside>
  );
}

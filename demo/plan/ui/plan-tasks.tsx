import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatCount } from '../../kit/format.ts';
import { PlanGraph } from './plan-graph.tsx';
import { PlanTree } from './plan-tree.tsx';
import type { TasksProps } from './task-facts.tsx';

/** As `plan.css` has it. */
const narrow = '(max-width: 40rem)';

/** The tasks of a plan, as a graph or as a list. */
export function PlanTasks(props: TasksProps): JSX.Element {
  /** What the person has chosen; before that, the room decides. */
  const chosen = useSignal<'graph' | 'list' | undefined>(undefined);
  const isNarrow = useSignal(matchMedia(narrow).matches);
  useEffect(() => {
    const query = matchMedia(narrow);
    const look = (): void => void (isNarrow.value = query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  const shown = chosen.value ?? (isNarrow.value ? 'list' : 'graph');
  const { omitted } = props.view;
  return (
    <>
      <div class='plan-views' role='group' aria-label='Show the tasks as'>
        {(['graph', 'list'] as const).map((kind) => (
          <button
            key={kind}
            type='button'
            class='plan-view'
            data-testid={`plan-view-${kind}`}
            aria-pressed={shown === kind}
            onClick={() => (chosen.value = kind)}
          >
            {kind === 'graph' ? 'Graph' : 'List'}
          </button>
        ))}
      </div>
      {shown === 'graph' ? <PlanGraph {...props} /> : <PlanTree {...props} />}
      {omitted > 0 && <p class='plan-more'>and {formatCount(omitted, 'more task')}</p>}
    </>
  );
}

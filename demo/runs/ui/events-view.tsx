import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import type { OpenedRun } from '../state/opened-run.ts';
import { formatCount } from '../../kit/format.ts';
import { JsonView } from '../../kit/json-view.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { nameOfModel } from '../../kit/model-name.ts';
import { formatMoment } from './moment.ts';
import { RunDetails } from './run-details.tsx';
import { Status } from './status.tsx';
import { rankAfter, ranksIn, RowSpace, useRows } from '../../kit/hooks/use-rows.tsx';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

const TryRules = lazy(async () => (await import('./try-rules.tsx')).TryRules);

/** Every event of the run, in order, by action and words. */
export function EventsView({ run }: { run: OpenedRun }): JSX.Element {
  const place = run.event.value;
  const event = place === undefined ? undefined : run.record.value.events[place];
  const isTrying = useSignal(false);
  return (
    <div class='timeline' data-selected={event !== undefined}>
      <div class='timeline-main'>
        <Filters run={run} onTry={() => (isTrying.value = true)} />
        <EventList run={run} />
      </div>
      {isTrying.value && (
        <TryRules
          runs={[run.record.value.head]}
          eventsOf={() => Promise.resolve(run.record.value.events)}
          onClose={() => (isTrying.value = false)}
        />
      )}
      {event && place !== undefined && (
        <RunDetails
          label='Event details'
          testId='event-details'
          status={event.status}
          title={event.action}
          from='event-list'
          onClose={() => run.lookAt(undefined)}
        >
          <JsonView label={`Event ${place + 1} of ${run.record.value.events.length}`} value={event} />
        </RunDetails>
      )}
    </div>
  );
}

function Filters({ run, onTry }: { run: OpenedRun; onTry: () => void }): JSX.Element {
  const { action, text } = run.filter.value;
  const count = run.found.value.length;
  return (
    <div class='event-filters'>
      <Choice
        label='Action'
        testId='event-action'
        value={action}
        options={[['', 'Any'], ...run.actions.value.map(([name, times]) => [name, `${name} (${times})`] as const)]}
        onChoose={(chosen) => run.setFilter({ action: chosen })}
      />
      <label class='field'>
        <span>Search events</span>
        <input
          type='search'
          data-testid='event-text'
          value={text}
          placeholder='A tool, “error” or an id'
          onInput={({ currentTarget }) => run.setFilter({ text: currentTarget.value })}
        />
      </label>
      <p class='inspector-faint' role='status' data-testid='event-count'>
        {count === 0 ? 'No results' : formatCount(count, 'event')}
      </p>
      <Button testId='open-try-rules' onClick={onTry}>Try rules</Button>
    </div>
  );
}

/** The list has the focus and names the selected event. */
function EventList({ run }: { run: OpenedRun }): JSX.Element {
  const count = useComputed(() => run.found.value.length);
  const at = useComputed(() => run.event.value === undefined ? -1 : run.found.value.indexOf(run.event.value));
  const rows = useRows(count);
  useSignalEffect(() => {
    if (at.value >= 0) rows.reveal(at.value);
  });
  const { from, to, pool, count: page } = rows.drawn.value;
  return (
    <div
      {...rows.scroller}
      class='event-list'
      role='listbox'
      tabIndex={0}
      aria-label='Events'
      aria-activedescendant={at.value >= from && at.value < to ? eventId(at.value) : undefined}
      data-testid='event-list'
      onKeyDown={(event) => {
        const next = rankAfter(event.key, { rank: at.value, count: count.value, page: page - 1 });
        if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        run.lookAt(run.found.value[next]);
      }}
    >
      <RowSpace rows={rows}>
        {ranksIn(rows.drawn.value).map((rank) => (
          <EventRow key={rank % pool} run={run} rank={rank} isChosen={rank === at.value} count={count.value} />
        ))}
      </RowSpace>
    </div>
  );
}

interface EventRowProps {
  readonly run: OpenedRun;
  readonly rank: number;
  readonly isChosen: boolean;
  readonly count: number;
}

function EventRow({ run, rank, isChosen, count }: EventRowProps): JSX.Element | null {
  const place = run.found.value[rank];
  const event = place === undefined ? undefined : run.record.value.events[place];
  if (!event) return null;
  return (
    <div
      id={eventId(rank)}
      class='event-row'
      role='option'
      aria-selected={isChosen}
      aria-posinset={rank + 1}
      aria-setsize={count}
      data-testid='event-row'
      onClick={() => run.lookAt(place)}
    >
      <span class='event-time'>{timeIn(run, event)}</span>
      <Status status={event.status} />
      <span class='span-action'>{event.action}</span>
      <span class='span-target'>{nameOfModel(event.target.id)}</span>
      <span class='event-summary'>{event.error ? event.error.code : event.payloadSummary}</span>
    </div>
  );
}

function eventId(rank: number): string {
  return `event-row-${rank}`;
}

function timeIn(run: OpenedRun, { timestamp }: ObservedEvent): string {
  return formatMoment(Math.max(0, Date.parse(timestamp) - run.spans.value.startedAt));
}

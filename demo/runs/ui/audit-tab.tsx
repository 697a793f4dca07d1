import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LoggedEvent } from '../../../src/events/audit.ts';
import type { BreakReason, Verification } from '../../../src/events/event-query.ts';
import type { AuditFilter, Console } from '../state/console.ts';
import { formatCount } from '../../kit/format.ts';
import { Asking, Refusal } from './refusal.tsx';
import { InspectAction, type TabProps, timeOf } from './runs-tab.tsx';
import { RunStatus } from '../../kit/run-status.tsx';
import { showRun } from '../../app/state/screens.ts';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

/** Who did what at the endpoint, by filters, and whether the chain of entries is whole. */
export function AuditTab({ state, url, playground }: TabProps): JSX.Element {
  const { audit } = state;
  useEffect(() => void state.narrowAudit({}), []);
  return (
    <>
      <Filters state={state} />
      <Chain state={state} />
      {audit.value.type === 'asking' && <Asking what='the audit' />}
      {audit.value.type === 'refused' && (
        <Refusal
          error={audit.value.error}
          scope='admin'
          onRetry={() => void state.narrowAudit({})}
        />
      )}
      {audit.value.type === 'there' && (
        <>
          {audit.value.value.items.length === 0 && (
            <p class='console-empty'>
              No matching audit entries. The log holds changes, and calls of tools that may change something; a run that
              only reads is under “Runs”.
            </p>
          )}
          <ul class='console-list' data-testid='console-audit'>
            {audit.value.value.items.map((entry) => (
              <Entry key={entry.seq} entry={entry} url={url} playground={playground} />
            ))}
          </ul>
          {audit.value.value.nextPageToken !== undefined && (
            <Button onClick={() => void state.moreAudit()}>
              Show more
            </Button>
          )}
        </>
      )}
    </>
  );
}

const fields: readonly (readonly [Exclude<keyof AuditFilter, 'withinMs'>, label: string])[] = [
  ['actor', 'Actor'],
  ['action', 'Action'],
  ['target', 'Target'],
  ['traceId', 'Trace id'],
];

const times: readonly (readonly [label: string, ms: number | undefined])[] = [
  ['Last hour', 3_600_000],
  ['Last 24 hours', 86_400_000],
  ['Last 30 days', 30 * 86_400_000],
  ['All time', undefined],
];

function Filters({ state }: { state: Console }): JSX.Element {
  const filter = state.auditFilter.value;
  return (
    <form class='console-filters' aria-label='Filter audit entries' onSubmit={(event) => event.preventDefault()}>
      {fields.map(([name, label]) => (
        <label key={name} class='field'>
          <span>{label}</span>
          <input
            type='text'
            autocomplete='off'
            spellcheck={false}
            data-testid={`console-audit-${name}`}
            value={filter[name]}
            onChange={({ currentTarget }) => void state.narrowAudit({ [name]: currentTarget.value })}
          />
        </label>
      ))}
      <Choice
        label='Time'
        value={String(filter.withinMs)}
        options={times.map(([label, ms]) => [String(ms), label])}
        onChoose={(chosen) => void state.narrowAudit({ withinMs: times.find(([, ms]) => String(ms) === chosen)?.[1] })}
      />
    </form>
  );
}

function Chain({ state }: { state: Console }): JSX.Element {
  const checked = state.verification.value;
  return (
    <div class='console-chain'>
      <Button testId='console-verify' onClick={() => void state.verify()}>
        Verify audit chain
      </Button>
      <p role='status' data-testid='console-verification'>
        {checked === undefined &&
          'Checks that no stored entry was changed or removed: each entry contains the hash of the one before it.'}
        {checked?.type === 'asking' && 'Verifying all entries…'}
        {checked?.type === 'refused' && checked.error.message}
        {checked?.type === 'there' && (checked.value.ok
          ? `Intact: ${formatCount(checked.value.checked, 'entry').replace('entrys', 'entries')} checked.`
          : breakText(checked.value))}
      </p>
    </div>
  );
}

const breaks: Readonly<Record<BreakReason, string>> = {
  entry_missing: 'the entry is missing',
  entry_mismatch: 'the entry was changed or moved',
  head_mismatch: 'the stored end of the chain does not match the last entry',
  entries_beyond_head: 'the stored end of the chain was set back before this entry',
  index_missing: 'the entry is missing from an index, so filters do not find it',
  index_mismatch: 'an index lists an entry that does not exist or does not match',
  anchor_missing: 'the chain ends before the anchor',
  anchor_mismatch: 'the chain differs from the anchor',
};

function breakText({ brokenAt, reason = 'entry_mismatch' }: Verification): string {
  return `Broken at entry ${brokenAt}: ${breaks[reason]}.`;
}

function Entry(
  { entry: { seq, event }, url, playground }: Omit<TabProps, 'state'> & { entry: LoggedEvent },
): JSX.Element {
  const { timestamp, actor, action, target, status, traceId, payloadSummary } = event;
  return (
    <li class='console-item' data-testid='console-audit-entry' data-status={status}>
      <code>{seq}</code>
      <span>{timeOf(timestamp)}</span>
      <span>
        <strong>{actor.id}</strong> {action} <strong>{target.id}</strong>
      </span>
      <RunStatus state={status} />
      {payloadSummary !== '' && <code class='console-summary'>{payloadSummary}</code>}
      <InspectAction
        label={`Inspect trace of entry ${seq}`}
        onClick={() => showRun(playground, { traceId, via: url })}
      />
    </li>
  );
}

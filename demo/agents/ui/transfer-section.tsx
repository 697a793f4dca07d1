import type { JSX } from 'preact';
import type { ImportChange } from '../../../src/registry/index.ts';
import { kinds } from '../state/record-forms.ts';
import type { Incoming, Transfer } from '../state/transfer.ts';
import { formatCount } from '../../kit/format.ts';
import { Differences } from '../../kit/differences.tsx';
import { Problem } from '../../kit/problem.tsx';
import { Button } from '../../kit/button.tsx';
import { FileButton } from '../../kit/file-button.tsx';

/** The whole catalogue, out to a file and in from one: what an import would change is shown first. */
export function TransferSection({ transfer }: { transfer: Transfer }): JSX.Element {
  const incoming = transfer.incoming.value;
  return (
    <div class='registry-page' data-testid='transfer'>
      <section>
        <h2>Export</h2>
        <p class='registry-faint'>Save all records in one file. It does not contain the values of secrets.</p>
        <div class='button-row'>
          <Button testId='export' disabled={transfer.isBusy.value} onClick={() => void save(transfer)}>
            Export
          </Button>
        </div>
      </section>
      <section>
        <h2>Import</h2>
        <p class='registry-faint'>
          Creates or replaces the records in the file and keeps all others. You review the changes first.
        </p>
        <div class='button-row'>
          <FileButton
            inputTestId='import-file'
            accept='.json,application/json'
            disabled={transfer.isBusy.value}
            onFiles={([file]) => file && transfer.look(file)}
          >
            Choose a file…
          </FileButton>
        </div>
        {transfer.problems.value.map((text) => <Problem key={text} text={text} testId='import-problem' />)}
        {incoming && <Report incoming={incoming} transfer={transfer} />}
      </section>
    </div>
  );
}

function Report({ incoming: { name, report }, transfer }: { incoming: Incoming; transfer: Transfer }): JSX.Element {
  const { dryRun, created, updated, unchanged, changes } = report;
  const counts = `${created} new, ${updated} changed, ${unchanged} unchanged`;
  return (
    <div class='registry-report' data-testid='import-report' data-dry-run={dryRun}>
      <p role='status'>
        <strong>{name}</strong> {dryRun ? 'changes' : 'changed'} {formatCount(changes.length, 'record')}: {counts}.
      </p>
      {changes.length > 0 && (
        <ul class='boxed registry-rows'>
          {changes.map((change) => <Change key={`${change.kind} ${change.id}`} change={change} />)}
        </ul>
      )}
      <div class='button-row'>
        {dryRun && changes.length > 0 && (
          <Button
            kind='primary'
            testId='import-apply'
            disabled={transfer.isBusy.value}
            onClick={() => void transfer.apply()}
          >
            Import {formatCount(changes.length, 'record')}
          </Button>
        )}
        <Button testId='import-forget' onClick={() => transfer.forget()}>
          {dryRun && changes.length > 0 ? 'Cancel' : 'Close'}
        </Button>
      </div>
    </div>
  );
}

function Change({ change: { kind, id, change, differences } }: { change: ImportChange }): JSX.Element {
  return (
    <li data-testid='import-change' data-change={change}>
      <span class='registry-row-name'>
        {id} <code>{kinds[kind].one}</code>
      </span>
      <span class='chip registry-badge' data-badge={change}>{change === 'create' ? 'new' : 'changed'}</span>
      <Differences differences={differences} />
    </li>
  );
}

/** Has the browser save the document. */
async function save(transfer: Transfer): Promise<void> {
  const text = await transfer.exportAll();
  if (text === undefined) return;
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: 'pinnace-catalog.json' });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

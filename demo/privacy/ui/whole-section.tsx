import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { RoomChange, WholeReport } from '../state/whole.ts';
import type { PrivacyPage } from '../state/privacy-page.ts';
import { formatCount } from '../../kit/format.ts';
import { Button } from '../../kit/button.tsx';
import { FileButton } from '../../kit/file-button.tsx';

/** Everything out to a file, and in from one: what an import would change is shown first. */
export function WholeSection({ page }: { page: PrivacyPage }): JSX.Element {
  const isBusy = page.busy.value !== undefined || page.isSpent.value;
  return (
    <section class='privacy-section' aria-labelledby='privacy-whole'>
      <h2 id='privacy-whole'>Export and import</h2>
      <p class='privacy-lead'>
        Save your chats, plans, agents, tools, tree, knowledge files, notes, runs and settings in one file. It does not
        contain secrets or keys.
      </p>
      <div class='button-row'>
        <Button testId='whole-export' disabled={isBusy} onClick={() => void save(page)}>
          {page.busy.value === 'export' ? 'Exporting…' : 'Export everything'}
        </Button>
        <FileButton
          inputTestId='whole-file'
          accept='.json,application/json'
          disabled={isBusy}
          onFiles={([file]) => file && page.look(file)}
        >
          {page.busy.value === 'look' ? 'Reading…' : 'Import a file…'}
        </FileButton>
      </div>
      {page.incoming.value && <Incoming page={page} {...page.incoming.value} />}
    </section>
  );
}

function Incoming({ page, name, report }: { page: PrivacyPage; name: string; report: WholeReport }): JSX.Element {
  const isBusy = page.busy.value !== undefined || page.isSpent.value;
  const changes = countOf(report);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => top.current?.scrollIntoView?.({ block: 'nearest' }), [report]);
  return (
    <div ref={top} class='privacy-report' data-testid='whole-report'>
      <p role='status'>
        <strong>{name}</strong>, exported {new Date(report.exportedAt).toLocaleString('en')},{' '}
        {changes === 0 ? 'changes nothing.' : 'makes these changes. Nothing is changed yet.'}
      </p>
      <ul class='boxed privacy-list'>
        {report.rooms.map((room) => (
          <li key={room.title} data-testid='whole-room' data-room={room.title}>
            <span class='privacy-name'>{room.title}</span>
            <span class='privacy-figure'>{inWords(room)}</span>
          </li>
        ))}
        {report.catalog && (
          <li data-testid='whole-room' data-room='catalog'>
            <span class='privacy-name'>Agents, tools, servers, providers</span>
            <span class='privacy-figure'>
              {report.catalog.created} new, {report.catalog.updated} changed, {report.catalog.unchanged} unchanged
            </span>
          </li>
        )}
        {report.settings.map(({ name: setting, value }) => (
          <li key={setting} data-testid='whole-setting'>
            <span class='privacy-name'>Setting “{setting}”</span>
            <code class='privacy-figure'>{JSON.stringify(value).slice(0, 200)}</code>
          </li>
        ))}
      </ul>
      <div class='button-row'>
        {changes > 0 && (
          <Button kind='primary' testId='whole-apply' disabled={isBusy} onClick={() => void page.apply()}>
            {page.busy.value === 'import' ? 'Importing…' : 'Import and reload page'}
          </Button>
        )}
        <Button disabled={isBusy} onClick={() => page.forget()}>
          {changes > 0 ? 'Cancel' : 'Close'}
        </Button>
      </div>
    </div>
  );
}

function countOf({ rooms, settings, catalog }: WholeReport): number {
  const inRooms = rooms.reduce((sum, { added, replaced, removed }) => sum + added + replaced + removed, 0);
  return inRooms + settings.length + (catalog ? catalog.created + catalog.updated : 0);
}

function inWords({ added, replaced, same, kept, removed }: RoomChange): string {
  if (added + replaced + removed === 0) return 'unchanged';
  const parts = [
    added > 0 && `${added} new`,
    replaced > 0 && `${replaced} replaced`,
    removed > 0 && `${removed} removed`,
    same > 0 && `${same} unchanged`,
    kept > 0 && `${formatCount(kept, 'other')} kept`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Has the browser save the file. */
async function save(page: PrivacyPage): Promise<void> {
  const text = await page.exportAll();
  if (text === undefined) return;
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const day = new Date().toISOString().slice(0, 10);
  Object.assign(document.createElement('a'), { href: url, download: `pinnace-${day}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

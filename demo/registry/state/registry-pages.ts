/** The registry's pages: which list is shown, which record is open, and what can be done with it. */

import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { HistoryEntry, RecordKind } from '../../../src/registry/index.ts';
import type { Page } from '../../../src/runtime/index.ts';
import type { AnyRecord, FoundRecord, RegistryControl } from '../worker/control.ts';
import type { Answer } from '../worker/answer.ts';
import { tryRecord } from './live-check.ts';
import { nameOf } from './record-words.ts';
import { everything, type Filter, type Listing, queryOf } from './registry-list.ts';
import { createMcpCheck, type McpCheck } from './mcp-check.ts';
import { type Choices, createRecordForm, type RecordForm } from './record-form.ts';
import { createTransfer, type Transfer } from './transfer.ts';
import { createVaultPage, type VaultPage } from '../../vault/state/vault-page.ts';
import { sealSecret } from '../../mcp/seal-secret.ts';
import { problemOf } from '../../kit/answer-problem.ts';

export type { Filter, Listing } from './registry-list.ts';

/** What there is besides lists of records. */
export type Section = RecordKind | 'vault' | 'transfer';

/** The record that is open. */
export interface Opened {
  readonly kind: RecordKind;
  readonly found: FoundRecord;
  readonly history: Page<HistoryEntry>;
  /** Of an MCP server. */
  readonly check: McpCheck;
}

/** The pages' state, and what can be done in them. */
export interface RegistryPages {
  readonly section: ReadonlySignal<Section>;
  readonly filter: ReadonlySignal<Filter>;
  /** `undefined` until the first answer. */
  readonly listing: ReadonlySignal<Listing | undefined>;
  readonly opened: ReadonlySignal<Opened | undefined>;
  /** Present while a record is being made or changed. */
  readonly form: ReadonlySignal<RecordForm | undefined>;
  /** Why the latest action failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** The way to the worker's registry, or to an endpoint's. */
  readonly control: RegistryControl;
  /** Whether it is the registry of the page's worker, which has the vault and tries tools. */
  readonly isHere: boolean;
  readonly vault: VaultPage;
  readonly transfer: Transfer;
  show(section: Section): Promise<void>;
  setFilter(filter: Partial<Filter>): Promise<void>;
  more(): Promise<void>;
  open(kind: RecordKind, id: string): Promise<void>;
  moreHistory(): Promise<void>;
  setState(state: 'active' | 'disabled'): Promise<void>;
  /** Removes the open record, and goes back to the list. */
  remove(): Promise<void>;
  /** Starts a new record of the listed kind. */
  start(): Promise<void>;
  edit(): Promise<void>;
  save(): Promise<void>;
  /** Leaves the form, without what was changed in it. */
  discard(): void;
  /** Goes back to the list. */
  close(): Promise<void>;
}

interface RegistryPagesOptions {
  readonly control: RegistryControl;
  readonly isHere?: boolean;
  /** Called after a change. */
  readonly onChanged: () => void;
  readonly announce: (text: string) => void;
}

const pageSize = 50;

/** Creates the pages. Calls the worker only from `show` on. */
export function createRegistryPages(
  { control, isHere = true, onChanged, announce }: RegistryPagesOptions,
): RegistryPages {
  const section = signal<Section>('agent');
  const filter = signal(everything);
  const listing = signal<Listing | undefined>(undefined);
  const opened = signal<Opened | undefined>(undefined);
  const form = signal<RecordForm | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const vault = createVaultPage({ control, announce });
  const transfer = createTransfer({ control, onChanged, announce });
  let turns = 0;

  /** Returns the value, or says what is wrong. */
  async function answerOf<T>(asking: Promise<Answer<T>>): Promise<T | undefined> {
    const answer = await asking.catch(() => undefined);
    problem.value = problemOf(answer, 'The registry did not respond');
    return answer?.ok ? answer.value : undefined;
  }

  async function list(pageToken?: string): Promise<void> {
    const kind = section.value;
    if (kind === 'vault') return await vault.load();
    if (kind === 'transfer') return;
    const turn = ++turns;
    const query = { ...queryOf(filter.value), limit: pageSize, ...(pageToken !== undefined && { pageToken }) };
    const page = await answerOf<Listing>(control.list(kind, query));
    if (!page || turn !== turns) return; // another filter was chosen meanwhile
    const before = pageToken === undefined ? [] : listing.value?.items ?? [];
    listing.value = { ...page, items: [...before, ...page.items] };
  }

  async function open(kind: RecordKind, id: string, check?: McpCheck): Promise<void> {
    const found = await answerOf(control.get(kind, id));
    const history = found && await answerOf(control.history(kind, id));
    if (!found || !history) return;
    batch(() => {
      form.value = undefined;
      opened.value = { kind, found, history, check: check ?? checkOf(id) };
    });
  }

  function checkOf(serverId: string): McpCheck {
    const check = createMcpCheck({
      validate: (request) => control.validate(serverId, request),
      async onApproved() {
        onChanged();
        await open('mcpServer', serverId, check);
      },
    });
    return check;
  }

  async function close(): Promise<void> {
    opened.value = undefined;
    await list();
  }

  async function startForm(kind: RecordKind, record?: AnyRecord): Promise<void> {
    form.value = await openRecordForm(control, kind, record);
  }

  return {
    isHere,
    section,
    filter,
    listing,
    opened,
    form,
    problem,
    control,
    vault,
    transfer,
    async show(next) {
      batch(() => {
        if (next !== section.value) {
          filter.value = everything;
          listing.value = undefined;
        }
        section.value = next;
        opened.value = undefined;
        form.value = undefined;
        problem.value = undefined;
      });
      await list();
    },
    async setFilter(more) {
      filter.value = { ...filter.value, ...more };
      await list();
    },
    more: () => list(listing.value?.nextPageToken),
    open: (kind, id) => open(kind, id),
    async moreHistory() {
      const before = opened.value;
      if (!before) return;
      const page = await answerOf(control.history(before.kind, before.found.record.id, before.history.nextPageToken));
      if (!page || opened.value !== before) return;
      opened.value = { ...before, history: { ...page, items: [...before.history.items, ...page.items] } };
    },
    async setState(state) {
      if (!opened.value) return;
      const { kind, found: { record }, check } = opened.value;
      await answerOf(control.setState(kind, record.id, state));
      if (problem.value !== undefined) return;
      announce(`${nameOf(record)} is ${state === 'active' ? 'enabled' : 'disabled'}`);
      onChanged();
      await open(kind, record.id, check);
    },
    async remove() {
      if (!opened.value) return;
      const { kind, found: { record } } = opened.value;
      await answerOf(control.remove(kind, record.id));
      if (problem.value !== undefined) return;
      announce(`${nameOf(record)} is removed`);
      onChanged();
      await close();
    },
    async start() {
      if (section.value !== 'vault' && section.value !== 'transfer') await startForm(section.value);
    },
    async edit() {
      if (opened.value) await startForm(opened.value.kind, opened.value.found.record);
    },
    async save() {
      const { value } = form;
      const record = await value?.save();
      if (!value || !record) return;
      announce(`${nameOf(record)} is saved`);
      onChanged();
      const { isNew, kind } = value;
      await open(kind, record.id);
      if (isNew && kind === 'mcpServer') void opened.value?.check.look(); // what it offers is why it was added
    },
    discard() {
      form.value = undefined;
    },
    close,
  };
}

/** Opens the form of a record, or of a new one, which the registry writes. */
export async function openRecordForm(
  control: RegistryControl,
  kind: RecordKind,
  record?: AnyRecord,
): Promise<RecordForm> {
  return createRecordForm({
    kind,
    choices: await choicesOf(control),
    ...(record && { record }),
    check: (given) => tryRecord(control, kind, given),
    write: (next, version) =>
      version === undefined ? control.create(kind, next) : control.replace(kind, next as AnyRecord, version), // a record with changes
  });
}

/** The options of forms; none when the worker fails. */
async function choicesOf(control: RegistryControl): Promise<Choices> {
  const nothing = (): undefined => undefined;
  const [providers, vault] = await Promise.all([
    control.list('provider', { limit: 200 }).catch(nothing),
    control.vault().catch(nothing),
  ]);
  return {
    providers: providers?.ok ? providers.value.items.map(({ id }) => id) : [],
    secrets: vault?.ok ? vault.value.secrets.map(({ id }) => id).filter((id) => id !== sealSecret) : [],
  };
}

/** The menu on the model's badge: the models of all known connections, with a search, and the settings of the chat. */

import { type Signal, signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { ServerAnswer } from '../../control/page-control.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import { useOpened } from '../../kit/menu.tsx';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { modelPlaceOf } from '../state/settings.ts';

interface Row {
  readonly id: string;
  readonly group: string;
  readonly title: string;
  readonly isCurrent: boolean;
  readonly go: () => Promise<void> | void;
}

/** What the servers have said, by address; it is asked anew each time the menu opens. */
const listsOf = oncePer((_: Playground): Signal<Readonly<Record<string, ServerAnswer>>> => signal({}));

interface ModelMenuProps {
  readonly playground: Playground;
  readonly opener: HTMLElement;
  readonly onClose: () => void;
}

/** The menu. It has the focus until it closes. */
export function ModelMenu({ playground, opener, onClose }: ModelMenuProps): JSX.Element {
  const { overlay } = playground;
  const menu = useRef<HTMLDivElement>(null);
  const query = useSignal('');
  const at = useSignal(0);
  const lists = listsOf(playground);
  const rows = rowsOf(playground, lists.value).filter((row) => fits(row, query.value));
  const chosen = Math.min(at.value, rows.length - 1);
  useEffect(() => void askAll(playground, lists), []);
  useOpened(menu, { opener, first: 'input', onClose });
  const leave = (): void => {
    opener.focus();
    onClose();
  };
  const show = (name: 'settings' | 'chat-settings'): void => {
    leave();
    overlay.value = name;
  };
  const go = (row: Row | undefined): void => {
    if (!row) return;
    leave();
    void row.go();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') leave();
    else if (event.key === 'Enter' && event.target instanceof HTMLInputElement) go(rows[chosen]);
    else if (step !== undefined) at.value = (chosen + step + rows.length) % Math.max(1, rows.length);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={menu}
      class='menu model-menu'
      role='dialog'
      aria-label='Choose a model'
      data-testid='model-menu'
      popover='manual'
      onKeyDown={onKeyDown}
    >
      <SearchField
        chosen={rows[chosen] && `model-${chosen}`}
        onInput={(text) => {
          query.value = text;
          at.value = 0;
        }}
      />
      <Rows rows={rows} chosen={chosen} onPoint={(i) => (at.value = i)} onGo={go} />
      {rows.length === 0 && <p class='model-note' role='status'>No model has this name.</p>}
      <Refusals lists={lists.value} />
      <TestModel playground={playground} />
      <Foot onShow={show} />
    </div>
  );
}

function SearchField({ chosen, onInput }: {
  readonly chosen: string | undefined;
  readonly onInput: (text: string) => void;
}): JSX.Element {
  return (
    <input
      type='text'
      role='combobox'
      aria-label='Search models'
      aria-expanded='true'
      aria-controls='model-rows'
      aria-activedescendant={chosen}
      placeholder='Search models'
      autocomplete='off'
      data-testid='model-search'
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  );
}

function Foot({ onShow }: { readonly onShow: (name: 'settings' | 'chat-settings') => void }): JSX.Element {
  return (
    <div class='model-foot'>
      <Action
        testId='model-chat-settings'
        icon='sliders'
        title='Settings of this chat'
        go={() => onShow('chat-settings')}
      />
      <Action testId='model-other' icon='plus' title='Other connection…' go={() => onShow('settings')} />
    </div>
  );
}

function Action({ testId, icon, title, go }: {
  testId: string;
  icon: IconName;
  title: string;
  go: () => void;
}): JSX.Element {
  return (
    <button type='button' class='menu-item' data-testid={testId} onClick={go}>
      <Icon name={icon} />
      {title}
    </button>
  );
}

interface RowsProps {
  readonly rows: readonly Row[];
  readonly chosen: number;
  readonly onPoint: (index: number) => void;
  readonly onGo: (row: Row) => void;
}

function Rows({ rows, chosen, onPoint, onGo }: RowsProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <ul id='model-rows' class='model-rows' role='listbox' aria-label='Models' ref={list} tabIndex={-1}>
      {rows.map((row, i) => (
        <li
          key={row.id}
          id={`model-${i}`}
          role='option'
          aria-selected={i === chosen}
          data-testid='model-row'
          data-current={row.isCurrent}
          onMouseMove={() => onPoint(i)}
          onClick={() => onGo(row)}
        >
          {row.isCurrent ? <Icon name='check' /> : <span class='model-gap' />}
          <span class='model-name'>{row.title}</span>
          <span class='model-group'>
            {row.group}
            {row.isCurrent && <span class='visually-hidden'>, in use</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Servers that did not list their models: the models that were used are still offered. */
function Refusals({ lists }: { lists: Readonly<Record<string, ServerAnswer>> }): JSX.Element {
  return (
    <>
      {Object.entries(lists).map(([baseUrl, answer]) =>
        !answer.ok && <p key={baseUrl} class='model-note'>{answer.text}</p>
      )}
    </>
  );
}

function TestModel({ playground: { settings } }: { playground: Playground }): JSX.Element | null {
  const said = useSignal<string | undefined>(undefined);
  const choice = settings.choice.value;
  if (choice.type !== 'endpoint' || choice.locked) return null;
  const { baseUrl, model } = choice;
  const test = async (): Promise<void> => {
    said.value = `Asking ${model}…`;
    const answer = await settings.ask({ baseUrl, model });
    said.value = !answer.ok
      ? answer.text
      : 'afterMs' in answer
      ? `${model} answers: its first word came after ${(answer.afterMs / 1000).toFixed(1)} s.`
      : undefined;
  };
  return (
    <div class='model-test'>
      <Action testId='model-test' icon='pulse' title={`Test ${model}`} go={() => void test()} />
      <p class='model-note' role='status' data-testid='model-said'>{said.value}</p>
    </div>
  );
}

/** Recent models first, then those that the servers list, then what needs no connection. */
function rowsOf(playground: Playground, lists: Readonly<Record<string, ServerAnswer>>): readonly Row[] {
  const { settings } = playground;
  const choice = settings.choice.value;
  const used = usedModel(playground);
  const recent = settings.connections.value.flatMap(({ baseUrl, models }) =>
    models.map((model) => ({ baseUrl, model }))
  );
  const listed = settings.connections.value.flatMap(({ baseUrl }) => {
    const answer = lists[baseUrl];
    return answer?.ok && 'models' in answer ? answer.models.map((model) => ({ baseUrl, model })) : [];
  });
  const known = new Map([...recent, ...listed].map((one) => [`${one.baseUrl} ${one.model}`, one]));
  return [
    ...[...known].map(([id, { baseUrl, model }]): Row => ({
      id,
      group: hostOf(baseUrl),
      title: model,
      isCurrent: choice.type === 'endpoint' && choice.baseUrl === baseUrl && used === model,
      go: () => useModel(playground, { baseUrl, model }),
    })),
    ...settings.servers.value.map((url): Row => ({
      id: url,
      group: 'Pinnace server',
      title: hostOf(url),
      isCurrent: choice.type === 'pinnace' && choice.url === url,
      go: () => settings.usePinnace(url).catch(() => void (playground.overlay.value = 'server')),
    })),
    {
      id: 'rehearsal',
      group: 'no AI model',
      title: 'Scripted demo',
      isCurrent: choice.type === 'rehearsal',
      go: () => settings.useRehearsal(),
    },
  ];
}

/** The model of the open chat: its own, or that of all chats. */
function usedModel({ settings, chats }: Playground): string | undefined {
  const choice = settings.choice.value;
  const own = chats.current.value.settings.value.model;
  if (own !== undefined && own.at === modelPlaceOf(choice)) return own.id;
  return choice.type === 'endpoint' ? choice.model : undefined;
}

async function useModel(
  { settings, chats, overlay, focusRequests }: Playground,
  model: { readonly baseUrl: string; readonly model: string },
): Promise<void> {
  const chat = chats.current.peek();
  const { model: own, ...others } = chat.settings.peek();
  if (!await settings.useModel(model)) {
    settings.prefill.value = model;
    overlay.value = 'settings';
    return;
  }
  if (own !== undefined) chats.configure(chat, others);
  focusRequests.value++;
}

function fits({ title, group }: Row, query: string): boolean {
  const text = `${title} ${group}`.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

async function askAll({ settings }: Playground, lists: ReturnType<typeof listsOf>): Promise<void> {
  await Promise.all(
    settings.connections.peek().map(async ({ baseUrl }) => {
      const answer = await settings.ask({ baseUrl });
      lists.value = { ...lists.peek(), [baseUrl]: answer };
    }),
  );
}

/** The menu over the composer for a draft that starts with "/". */

import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Playground } from '../../app/state/playground.ts';
import type { Chat } from '../../chat/state/chat.ts';
import { type Command, type CommandField, type CommandForm, type Commands, createCommands } from '../state/commands.ts';
import { Button } from '../../kit/button.tsx';

/** Lists prompts and resources, and the fields of the chosen one. */
export function CommandMenu({ chat, playground }: { chat: Chat; playground: Playground }): JSX.Element | null {
  const root = useRef<HTMLDivElement>(null);
  const agentId = chat.agentId.value;
  const commands = useMemo(
    () => createCommands({ chat, mcp: playground.mcp, onDone: () => playground.focusRequests.value++ }),
    [chat, agentId],
  );
  const draft = chat.draft.value;
  useEffect(() => void commands.search(draft), [commands, draft]);
  useKeys(root, commands);
  const { form, found, problem } = commands;
  const isEmpty = found.value.length === 0 && !form.value && problem.value === undefined;
  return (
    <div ref={root} class='commands' hidden={isEmpty} data-testid='commands'>
      {form.value ? <Form commands={commands} form={form.value} /> : <List commands={commands} />}
      {problem.value !== undefined && <p role='alert' class='attach-problem'>{problem.value}</p>}
    </div>
  );
}

/** Takes keys of the message field before it does. */
function useKeys(root: { readonly current: HTMLElement | null }, commands: Commands): void {
  useLayoutEffect(() => {
    const composer = root.current?.closest('form');
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!(event.target instanceof HTMLTextAreaElement) || event.isComposing) return;
      const command = commands.found.value[commands.at.value];
      if (!command || commands.form.value || !take(event, command, commands)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    composer?.addEventListener('keydown', onKeyDown, true);
    return () => composer?.removeEventListener('keydown', onKeyDown, true);
  }, [commands]);
}

function take({ key, shiftKey }: KeyboardEvent, command: Command, commands: Commands): boolean {
  if (key === 'ArrowDown') commands.move(1);
  else if (key === 'ArrowUp') commands.move(-1);
  else if (key === 'Escape') commands.leave();
  else if (key === 'Enter' && !shiftKey) void commands.choose(command);
  else return false;
  return true;
}

const groups = { prompt: 'Prompts', resource: 'Attach a resource', template: 'Attach a resource by URI' } as const;

function List({ commands }: { commands: Commands }): JSX.Element {
  const { found, at, isBusy } = commands;
  const list = useRef<HTMLUListElement>(null);
  const current = at.value;
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <ul ref={list} role='listbox' aria-label='Prompts and resources' aria-busy={isBusy.value}>
      {found.value.map((command, i) => (
        <li key={`${command.kind} ${command.entry.server} ${i}`} role='presentation'>
          {command.kind !== found.value[i - 1]?.kind && <p class='commands-group'>{groups[command.kind]}</p>}
          <button
            type='button'
            role='option'
            aria-selected={i === at.value}
            data-testid='command'
            onMouseEnter={() => (at.value = i)}
            onClick={() => void commands.choose(command)}
          >
            <span class='commands-name'>{command.label}</span>
            <span class='commands-facts'>{factsOf(command)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function factsOf({ kind, entry }: Command): string {
  if (kind === 'prompt') return entry.description ?? entry.title ?? '';
  return `${entry.alias} · ${kind === 'resource' ? entry.uri : entry.uriTemplate}`;
}

function Form({ commands, form: { command, fields } }: { commands: Commands; form: CommandForm }): JSX.Element {
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.focus(), [command]);
  const isPrompt = command.kind === 'prompt';
  return (
    <div
      class='commands-form'
      role='group'
      aria-label={command.label}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        if (event.target instanceof HTMLButtonElement) return;
        event.preventDefault();
        event.stopPropagation();
        if (event.key === 'Enter') void commands.finish();
        else commands.leave();
      }}
    >
      <p class='commands-name'>{command.label}</p>
      {fields.map((field, i) => (
        <Field key={field.name} field={field} commands={commands} input={i === 0 ? first : null} />
      ))}
      <p class='commands-facts'>
        From the MCP server {command.entry.alias}.{' '}
        {isPrompt ? 'Check the text before you send it.' : 'Agents treat it as untrusted.'}
      </p>
      <div class='commands-buttons'>
        <Button kind='quiet' onClick={() => commands.leave()}>Cancel</Button>
        <Button
          kind='primary'
          testId='command-finish'
          disabled={commands.isBusy.value}
          onClick={() => void commands.finish()}
        >
          {isPrompt ? 'Insert prompt' : 'Attach resource'}
        </Button>
      </div>
    </div>
  );
}

function Field(
  { field, commands, input }: {
    field: CommandField;
    commands: Commands;
    input: RefObject<HTMLInputElement | null> | null;
  },
): JSX.Element {
  const list = `command-${field.name}`;
  return (
    <label>
      <span>{field.name}{field.required ? '' : ' (optional)'}</span>
      {field.description !== undefined && <small>{field.description}</small>}
      <input
        ref={input}
        list={list}
        autocomplete='off'
        value={field.value.value}
        data-testid={list}
        onFocus={() => void commands.propose(field)}
        onInput={({ currentTarget }) => {
          field.value.value = currentTarget.value;
          commands.problem.value = undefined;
          void commands.propose(field);
        }}
      />
      <datalist id={list}>{field.proposed.value.map((value) => <option key={value} value={value} />)}</datalist>
    </label>
  );
}

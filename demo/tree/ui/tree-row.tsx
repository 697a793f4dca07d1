import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Activity, PanelRow } from '../../control/tree-control.ts';
import { Icon, type IconName } from '../../kit/icon.tsx';
import type { DropPlace } from './edits.ts';

export interface RowActions {
  readonly onChoose: (rank: number) => void;
  readonly onToggle: (row: PanelRow) => void;
  readonly onCheck: (row: PanelRow) => void;
  readonly onName: (row: PanelRow, name: string) => void;
  readonly onWrite: (row: PanelRow) => void;
  readonly onCancel: () => void;
  readonly onDrag: (row: PanelRow) => void;
  readonly onDragOver: (rank: number, event: DragEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
}

interface TreeRowProps {
  readonly row: PanelRow;
  readonly rank: number;
  /** Its contents are still to come. */
  readonly isEmpty: boolean;
  readonly isActive: boolean;
  readonly isCut: boolean;
  readonly isWriting: boolean;
  readonly dropPlace: DropPlace | undefined;
  /** Who has just changed it, and how it is called. */
  readonly mark: (Activity & { readonly who: string }) | undefined;
  readonly actions: RowActions;
}

/** The id of the element of a row, for `aria-activedescendant`. */
export function rowId(rank: number): string {
  return `tree-row-${rank}`;
}

export function TreeRow(props: TreeRowProps): JSX.Element {
  const { row, rank, isEmpty, isActive, isCut, isWriting, dropPlace, mark, actions } = props;
  const { name, depth, childrenCount, isExpanded, payloadType, state } = row;
  return (
    <div
      id={rowId(rank)}
      role='treeitem'
      class={isEmpty ? 'tree-row is-empty' : 'tree-row'}
      aria-busy={isEmpty}
      data-testid='tree-row'
      data-node={row.nodeId}
      data-type={payloadType}
      data-state={state}
      data-cut={isCut}
      data-drop={dropPlace}
      data-mark={mark && (mark.by === 'you' ? 'own' : 'other')}
      aria-label={labelOf(row, mark)}
      aria-level={depth + 1}
      aria-posinset={row.position + 1}
      aria-setsize={row.siblings}
      aria-selected={isActive}
      aria-expanded={childrenCount > 0 ? isExpanded : undefined}
      style={{ '--depth': Math.min(depth, 12) }}
      draggable={!isWriting && row.parentId !== null}
      onMouseDown={() => actions.onChoose(rank)}
      onDblClick={() => (childrenCount > 0 ? actions.onToggle(row) : actions.onWrite(row))}
      onDragStart={() => actions.onDrag(row)}
      onDragOver={(event) => actions.onDragOver(rank, event)}
      onDrop={actions.onDrop}
    >
      <span
        class='tree-twisty'
        data-testid='tree-twisty'
        onClick={() => childrenCount > 0 && actions.onToggle(row)}
        onDblClick={(event) => event.stopPropagation()}
      >
        {childrenCount > 0 && <Icon name='chevron' />}
      </span>
      <Kind row={row} onCheck={() => actions.onCheck(row)} />
      {isWriting
        ? <NameField name={name} onName={(written) => actions.onName(row, written)} onCancel={actions.onCancel} />
        : <span class='tree-name'>{name}</span>} {mark && <span class='tree-who'>{mark.who}</span>}
      {!mark && state !== undefined && payloadType === 'job' && <span class='tree-state'>{state}</span>}{' '}
      {!mark && row.person !== undefined && <span class='tree-person'>{row.person}</span>}
    </div>
  );
}

/** Starts with the visible text in the same order, so that voice control works. */
function labelOf({ name, state, person, childrenCount, payloadType }: PanelRow, mark: TreeRowProps['mark']): string {
  const inside = childrenCount > 0 ? `${childrenCount.toLocaleString('en')} inside` : undefined;
  const facts = payloadType === 'job' ? [state, person] : [person, state];
  return [name, mark && `${mark.who} changed it`, ...facts, inside].filter((part) => part !== undefined).join(', ');
}

const icons: Readonly<Record<string, IconName>> = { area: 'area', job: 'job' };

function Kind({ row: { payloadType, state }, onCheck }: { row: PanelRow; onCheck: () => void }): JSX.Element {
  if (payloadType !== 'task') return <Icon name={icons[payloadType] ?? 'area'} />;
  return (
    <span
      class='tree-check'
      data-testid='tree-check'
      onClick={onCheck}
      onDblClick={(event) => event.stopPropagation()}
    >
      {state === 'done' && <Icon name='check' />}
    </span>
  );
}

interface NameFieldProps {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onCancel: () => void;
}

/** Leaving the field saves the text; Escape discards it. */
function NameField({ name, onName, onCancel }: NameFieldProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const end = (finish: () => void): void => {
    if (isDone.current) return;
    isDone.current = true;
    finish();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.isComposing) return;
    if (event.key === 'Enter') end(() => onName(field.current?.value ?? name));
    else if (event.key === 'Escape') end(onCancel);
  };
  return (
    <input
      ref={field}
      class='tree-field'
      data-testid='tree-field'
      aria-label='Name'
      maxLength={200}
      defaultValue={name}
      onKeyDown={onKeyDown}
      onMouseDown={(event) => event.stopPropagation()}
      onBlur={() => end(() => onName(field.current?.value ?? name))}
    />
  );
}

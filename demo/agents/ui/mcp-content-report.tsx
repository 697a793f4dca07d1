import type { JSX } from 'preact';
import type { McpContentOffer, OfferedContent } from '../../../src/registry/index.ts';
import { formatCount } from '../../kit/format.ts';
import { JsonView } from '../../kit/json-view.tsx';
import type { McpCheck } from '../state/mcp-check.ts';
import { Description } from './offer-text.tsx';

const most = 50;

/** The prompts, resources and templates that an approval covers. */
export function McpContentReport({ content, check }: { content: McpContentOffer; check: McpCheck }): JSX.Element {
  const { prompts, resources, templates, removed } = content;
  return (
    <div data-testid='mcp-content'>
      <Kind title='Prompts' items={prompts} check={check} />
      <Kind title='Resources' items={resources} check={check} />
      <Kind title='Templates of resources' items={templates} check={check} />
      {removed.length > 0 && <p class='registry-faint'>No longer offered: {removed.slice(0, most).join(', ')}</p>}
    </div>
  );
}

function Kind(
  { title, items, check }: { title: string; items: readonly OfferedContent[]; check: McpCheck },
): JSX.Element | null {
  if (items.length === 0) return null;
  const included = items.filter((item) => item.included).length;
  const isNew = items.some(({ change }) => change !== 'same');
  return (
    <details class='registry-reason' open={isNew && items.length <= 10}>
      <summary>{title}: {included} of {items.length} will be approved</summary>
      <ul class='boxed registry-rows' aria-label={title}>
        {items.slice(0, most).map((item) => <Item key={item.label} item={item} check={check} />)}
      </ul>
      {items.length > most && <p class='registry-faint'>{formatCount(items.length - most, 'other')} not shown</p>}
    </details>
  );
}

function Item({ item, check }: { item: OfferedContent; check: McpCheck }): JSX.Element {
  const { id, label, change, changedFields, included, definition } = item;
  const isOut = check.leftOut.value.includes(label);
  const word = { same: 'as approved', changed: 'changed', added: 'new' }[change];
  return (
    <li data-label={label} data-included={included}>
      <span class='registry-row-name'>{id}</span>
      <span class='chip registry-badge' data-badge={change === 'changed' ? 'drifted' : change}>
        {included ? word : 'left out'}
      </span>
      <Description of={definition} />
      {(included || isOut) && (
        <label class='check'>
          <input
            type='checkbox'
            checked={isOut}
            disabled={check.isBusy.value}
            onChange={() => void check.toggle(label)}
          />
          Leave out
        </label>
      )}
      <details class='registry-reason'>
        <summary>Definition{changedFields.length > 0 && `; other than approved: ${changedFields.join(', ')}`}</summary>
        <JsonView label='As the server sends it' value={definition} />
      </details>
    </li>
  );
}

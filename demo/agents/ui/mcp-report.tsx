import type { JSX } from 'preact';
import type { McpContentOffer, McpValidation, OfferedContent, OfferedTool } from '../../../src/registry/index.ts';
import { Facts } from '../../kit/facts.tsx';
import { formatCount } from '../../kit/format.ts';
import { JsonView } from '../../kit/json-view.tsx';
import type { Effect, McpCheck } from '../state/mcp-check.ts';
import { effectWords } from './effect-words.ts';
import { Findings } from './findings.tsx';
import { Description, Fingerprint } from './offer-text.tsx';
import { factsOf } from './sign-in-facts.ts';
import { Button } from '../../kit/button.tsx';

/** What an MCP server offers, beside what was approved; and the approval. */
export function McpReport({ report, check }: { report: McpValidation; check: McpCheck }): JSX.Element {
  const { tools, removed, findings, signedIn } = report;
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const included = tools.filter((tool) => tool.included).length;
  return (
    <div class='registry-report' data-testid='mcp-report'>
      <About report={report} />
      <Findings findings={findings} />
      <Effects names={tools.flatMap((tool) => tool.included ? [tool.name] : [])} check={check} />
      <ul class='boxed registry-rows' aria-label='Tools on this server'>
        {tools.toSorted((a, b) => weightOf(b, report) - weightOf(a, report)).map((tool) => (
          <Offered key={tool.name} tool={tool} check={check} />
        ))}
        {removed.map((name) => (
          <li key={name} data-testid='mcp-offer' data-change='removed'>
            <span class='registry-row-name'>{name}</span>
            <span class='chip registry-badge' data-badge='drifted'>no longer offered</span>
          </li>
        ))}
      </ul>
      {report.content && <McpContentReport content={report.content} check={check} />}
      {report.apps && <McpAppsReport apps={report.apps} check={check} />}
      {errors > 0 && (
        <p class='registry-faint'>
          {formatCount(errors, 'error')}: this offer cannot be approved. Leave out the tools with errors. Tools approved
          before keep working unless they changed.
        </p>
      )}
      <div class='button-row mcp-approve-bar'>
        <span class='registry-faint'>
          {included.toLocaleString('en')} of {formatCount(tools.length, 'tool')} chosen
        </span>
        <Button
          kind='primary'
          testId='mcp-approve'
          disabled={check.isBusy.value || errors > 0}
          onClick={() => void check.approve()}
        >
          Approve {signedIn === false && included === 0 ? 'the sign-in' : formatCount(included, 'tool')}
        </Button>
      </div>
    </div>
  );
}

/** What the server says of itself. */
function About({ report }: { readonly report: McpValidation }): JSX.Element {
  const { serverInfo, protocolVersion, instructions, instructionsChanged, tools, auth, signedIn } = report;
  return (
    <>
      {auth && (
        <div data-testid='mcp-auth'>
          <p>An approval lets people sign in here, and nowhere else:</p>
          <Facts facts={factsOf(auth)} />
        </div>
      )}
      {signedIn === false && (
        <p class='registry-faint'>You have not signed in: these are the tools that were approved before.</p>
      )}
      {serverInfo.name !== '' && (
        <p class='registry-faint'>
          {serverInfo.name} {serverInfo.version}, protocol {protocolVersion}, {formatCount(tools.length, 'tool')}
        </p>
      )}
      {instructions !== undefined && (
        <details class='registry-reason' open={instructionsChanged}>
          <summary>Its instructions{instructionsChanged && ', other than approved'}</summary>
          <pre class='registry-text'>{instructions}</pre>
        </details>
      )}
    </>
  );
}

const effects: readonly Effect[] = ['read', 'write', 'destructive'];

/** What matters first: tools with findings, then those that have changed, then new ones. */
function weightOf({ name, change }: OfferedTool, { findings }: McpValidation): number {
  const worst = findings.some((one) => one.tool === name && one.severity === 'error')
    ? 4
    : findings.some((one) => one.tool === name)
    ? 2
    : 0;
  return worst + (change === 'changed' ? 3 : change === 'added' ? 1 : 0);
}

/** Says of all tools at once what they do. */
function Effects({ names, check }: { names: readonly string[]; check: McpCheck }): JSX.Element | null {
  if (names.length < 2) return null;
  return (
    <p class='mcp-effects'>
      <span>Set all {names.length} to</span>
      {effects.map((effect) => (
        <Button
          key={effect}
          aria-pressed={names.every((name) => check.effects.value[name] === effect)}
          onClick={() => names.forEach((name) => check.setEffect(name, effect))}
        >
          {effectWords[effect]}
        </Button>
      ))}
    </p>
  );
}

function Offered({ tool, check }: { tool: OfferedTool; check: McpCheck }): JSX.Element {
  const { name, exposedAs, fingerprint, change, changedFields, definition } = tool;
  const isOut = check.leftOut.value.includes(name);
  return (
    <li data-testid='mcp-offer' data-tool={name} data-change={change} data-included={tool.included}>
      <span class='registry-row-name'>{name}</span>
      <ChangeBadge tool={tool} />
      <Description of={definition} />
      {exposedAs !== undefined && (
        <div class='registry-offer'>
          <label>
            <span>Effect</span>
            <select
              aria-label={`What ${name} does`}
              value={check.effects.value[name] ?? tool.effect ?? 'destructive'}
              onChange={({ currentTarget }) => check.setEffect(name, currentTarget.value as Effect)} // one of the options
            >
              {effects.map((effect) => <option key={effect} value={effect}>{effectWords[effect]}</option>)}
            </select>
          </label>
          <label class='check'>
            <input
              type='checkbox'
              data-testid='mcp-leave-out'
              checked={!isOut}
              disabled={check.isBusy.value}
              onChange={() => void check.toggle(name)}
            />
            Use
          </label>
        </div>
      )}
      <details class='registry-reason'>
        <summary>
          {exposedAs === undefined ? 'Not available' : `Models call it ${exposedAs}`}
          {changedFields.length > 0 && `; other than approved: ${changedFields.join(', ')}`}
        </summary>
        {fingerprint !== undefined && (
          <p class='registry-faint'>
            Fingerprint <code>{fingerprint}</code>
          </p>
        )}
        <JsonView label='As the server sends it' value={definition} />
      </details>
    </li>
  );
}

function ChangeBadge({ tool: { change, included } }: { tool: OfferedTool }): JSX.Element {
  if (!included) return <span class='chip registry-badge'>left out</span>;
  const word = { same: 'as approved', changed: 'changed', added: 'new' }[change];
  return <span class='chip registry-badge' data-badge={change === 'changed' ? 'drifted' : change}>{word}</span>;
}

type OfferedApp = NonNullable<McpValidation['apps']>[number];

/** The apps that an approval covers, and what each may reach. */
function McpAppsReport({ apps, check }: { apps: readonly OfferedApp[]; check: McpCheck }): JSX.Element {
  const included = apps.filter((app) => app.included).length;
  return (
    <div data-testid='mcp-apps'>
      <p class='registry-faint'>
        Apps: {included} of {apps.length} will be approved. Each is shown in a frame of its own.
      </p>
      <ul class='boxed registry-rows' aria-label='Apps'>
        {apps.map((app) => <Item key={app.uri} app={app} check={check} />)}
      </ul>
    </div>
  );
}

function Item({ app, check }: { app: OfferedApp; check: McpCheck }): JSX.Element {
  const { uri, label, sha256, bytes, csp, tools, change, included } = app;
  const origins = [...new Set([...csp.connect, ...csp.resource])];
  const word = { same: 'as approved', changed: 'changed', added: 'new' }[change];
  return (
    <li data-uri={uri} data-included={included}>
      <span class='registry-row-name'>{uri}</span>
      <span class='chip registry-badge' data-badge={change === 'changed' ? 'drifted' : change}>
        {included ? word : 'left out'}
      </span>
      <p class='registry-offer-text'>
        Shows {tools.join(', ')}; {formatCount(bytes, 'byte')}.{' '}
        {origins.length === 0 ? 'It reaches no network.' : `It may reach ${origins.join(', ')}.`}
      </p>
      <div class='registry-offer'>
        <label class='check'>
          <input
            type='checkbox'
            checked={check.leftOut.value.includes(label)}
            disabled={check.isBusy.value}
            onChange={() => void check.toggle(label)}
          />
          Leave out
        </label>
      </div>
      <Fingerprint value={sha256} />
    </li>
  );
}

const most = 50;

/** The prompts, resources and templates that an approval covers. */
function McpContentReport({ content, check }: { content: McpContentOffer; check: McpCheck }): JSX.Element {
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
        {items.slice(0, most).map((item) => <ContentItem key={item.label} item={item} check={check} />)}
      </ul>
      {items.length > most && <p class='registry-faint'>{formatCount(items.length - most, 'other')} not shown</p>}
    </details>
  );
}

function ContentItem({ item, check }: { item: OfferedContent; check: McpCheck }): JSX.Element {
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

/** What a prompt has that the one before it did not. */

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Prompt, PromptMessage, PromptPart } from '../../control/runs-control.ts';
import { formatCount } from '../../kit/format.ts';
import { Choice } from '../../kit/choice.tsx';
import { Icon } from '../../kit/icon.tsx';
import { JsonView } from '../../kit/json-view.tsx';
import { nameOfModel } from '../../kit/model-name.ts';
import type { Inspector } from '../state/inspector.ts';
import type { OpenedRun } from '../state/opened-run.ts';

interface PromptViewProps {
  readonly run: OpenedRun;
  readonly inspector: Inspector;
}

/** What each call of a model was given: the prompt as the model saw it. */
export function PromptView({ run, inspector }: PromptViewProps): JSX.Element {
  const { modelCalls } = run.record.value.head;
  const isLive = run.isLive.value;
  // A call is counted when it ends; its prompt exists when it starts.
  useEffect(() => void inspector.refreshPrompts(), [run, modelCalls, isLive, run.record.value.events.length]);
  const prompts = run.prompts.value;
  if (!prompts || prompts.length === 0) return <NoPrompt run={run} isAsked={prompts !== undefined} />;
  const selected = prompts.findIndex(({ spanId }) => spanId === run.selected.value?.key);
  const at = selected < 0 ? 0 : selected;
  const prompt = prompts[at]!; // safe: there is at least one, and `at` is one of them
  return (
    <div class='run-scroll' data-testid='prompt-view'>
      <p class='prompt-notice' data-testid='prompt-notice'>
        <Icon name='lock' />
        {run.source === 'file'
          ? 'Anyone with this file can read the conversation.'
          : 'Prompts are held only in this page’s memory, and are discarded when the page closes.'}
      </p>
      <Choice
        label='Model call'
        testId='prompt-choice'
        class='field prompt-choice'
        value={String(at)}
        options={prompts.map(({ model, messages }, i) => [
          String(i),
          `${i + 1} of ${prompts.length}: ${nameOfModel(model)}, ${formatCount(messages.length, 'message')}`,
        ])}
        onChoose={(chosen) => run.select(prompts[Number(chosen)]?.spanId)}
      />
      <ChangedBlock
        run={run}
        prompt={prompt}
        before={prompts.slice(0, at).findLast(({ model }) => model === prompt.model)}
      />
      <Content key={prompt.spanId} prompt={prompt} before={prompts[at - 1]} />
    </div>
  );
}

function NoPrompt({ run, isAsked }: { run: OpenedRun; isAsked: boolean }): JSX.Element {
  const why = run.source === 'file'
    ? 'This file contains no prompts.'
    : run.source === 'endpoint'
    ? 'Prompts stay at the endpoint and are not shown here.'
    : !isAsked
    ? 'Loading…'
    : run.isLive.value
    ? 'No model has been called yet.'
    : run.breakdown.value.total.modelCalls === 0
    ? 'No model was called in this run.'
    : 'The prompts of this run are no longer available: this page holds the prompts of the latest runs, until it closes.';
  return <p class='inspector-empty' role='status' data-testid='prompt-none'>{why}</p>;
}

/** Where the beginning of the prompt is another one than in the call before of this model: both, as far as this page has them. */
function ChangedBlock(
  { run, prompt, before }: { run: OpenedRun; prompt: Prompt; before: Prompt | undefined },
): JSX.Element | null {
  const broken = run.breakdown.value.prompts.find(({ key }) => key === prompt.spanId)?.break;
  if (!broken) return null;
  const { reason, block, position, lost } = broken;
  return (
    <section data-testid='changed-block'>
      <h2>Changed: {reason ?? 'unexpected'}</h2>
      <p class='inspector-faint'>
        {block === 'tools' ? 'The tools' : `Block ${position} (${block})`} {block === 'tools' ? 'differ' : 'differs'}
        {' '}
        from the call before: about {formatCount(lost, 'token')} cannot be read from a cache.
      </p>
      <div class='changed-block'>
        {([['Before', before], ['Now', prompt]] as const).map(([name, one]) => (
          <article key={name}>
            <h3>{name}</h3>
            {one ? <Block prompt={one} position={position} /> : <p class='inspector-faint'>Another run sent it.</p>}
          </article>
        ))}
      </div>
    </section>
  );
}

function Block({ prompt: { messages, tools }, position }: { prompt: Prompt; position: number }): JSX.Element {
  if (position === 0) return <p>{tools.map(({ name }) => name).join(', ') || 'No tools.'}</p>;
  const message = messages[position - 1];
  return message ? <Message message={message} /> : <p class='inspector-faint'>Nothing.</p>;
}

/** What the call before had too is folded away. */
function Content({ prompt, before }: { prompt: Prompt; before: Prompt | undefined }): JSX.Element {
  const system = prompt.messages.filter(({ role }) => role === 'system');
  const said = prompt.messages.filter(({ role }) => role !== 'system');
  const fresh = newFrom(said, before?.messages.filter(({ role }) => role !== 'system'));
  return (
    <>
      {prompt.said !== undefined && <p role='note'>The provider said: {prompt.said}</p>}
      <section>
        <h2>System</h2>
        {system.length === 0
          ? <p class='inspector-faint'>None.</p>
          : system.map((message, i) => <Message key={i} message={message} testId='prompt-system' />)}
      </section>
      <section>
        <h2>Messages</h2>
        {fresh > 0 && (
          <details class='prompt-known' data-testid='prompt-known'>
            <summary>{formatCount(fresh, 'message')} from the previous call</summary>
            {said.slice(0, fresh).map((message, i) => <Message key={i} message={message} />)}
          </details>
        )}
        {said.slice(fresh).map((message, i) => <Message key={i} message={message} testId='prompt-message' />)}
      </section>
      <section>
        <h2>{formatCount(prompt.tools.length, 'tool')}</h2>
        {prompt.tools.map(({ name, description, input }) => (
          <details key={name} class='prompt-tool' data-testid='prompt-tool'>
            <summary>
              <code>{name}</code> <span class='inspector-faint'>{description}</span>
            </summary>
            <p>{description}</p>
            <JsonView label='Input' value={input} />
          </details>
        ))}
      </section>
      <section>
        <h2>Settings</h2>
        <JsonView label='Settings' value={prompt.settings} />
      </section>
    </>
  );
}

const roles: Readonly<Record<PromptMessage['role'], string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
};

function Message({ message: { role, parts }, testId }: { message: PromptMessage; testId?: string }): JSX.Element {
  return (
    <article class='prompt-message' data-role={role} data-testid={testId}>
      {role !== 'system' && <h3>{roles[role]}</h3>}
      {parts.map((part, i) => <Part key={i} part={part} />)}
    </article>
  );
}

function Part({ part }: { part: PromptPart }): JSX.Element {
  switch (part.type) {
    case 'text':
      return <pre class='prompt-text' tabIndex={0}>{part.text}</pre>;
    case 'reasoning':
      return <pre class='prompt-text is-reasoning' tabIndex={0}>{part.text}</pre>;
    case 'call':
      return <JsonView label={`Calls ${part.tool}`} value={part.input} />;
    case 'result':
      return <JsonView label={`Output of ${part.tool}`} value={part.output} />;
    case 'file':
      return <p class='chip'>File ({part.mediaType})</p>;
    case 'other':
      return <JsonView label='Other content' value={part.value} />;
    default:
      return part satisfies never;
  }
}

/** How many messages, from the first on, are as in the call before. The last one is always shown as new. */
export function newFrom(messages: readonly PromptMessage[], before: readonly PromptMessage[] | undefined): number {
  const most = Math.min(before?.length ?? 0, messages.length - 1);
  for (let i = 0; i < most; i++) {
    if (JSON.stringify(messages[i]) !== JSON.stringify(before?.[i])) return i;
  }
  return Math.max(0, most);
}

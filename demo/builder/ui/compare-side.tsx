import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { isRunning } from '../../chat/state/chat.ts';
import { figuresOf } from '../../chat/state/figures.ts';
import type { Compare, Side } from '../state/compare.ts';
import type { AssistantMessage } from '../../chat/state/message.ts';
import { formatDuration } from '../../kit/format.ts';
import { Problem } from '../../kit/problem.tsx';
import { nameOfModel } from '../../settings/state/model-name.ts';
import { SmallThread } from './small-thread.tsx';

interface CompareSideProps {
  readonly side: Side;
  readonly compare: Compare;
  readonly onKeep: () => void;
}

/** One column: who answers, what it said, and what that took. */
export function CompareSide({ side, compare, onKeep }: CompareSideProps): JSX.Element {
  const chat = side.playground.chats.current.value;
  const messages = chat.messages.value;
  const last = messages.at(-1);
  return (
    <section class='compare-side' aria-label={`Side ${side.name}`} data-testid={`side-${side.name}`}>
      <Who side={side} compare={compare} />
      <Problem text={side.problem.value} testId='side-problem' />
      <SmallThread playground={side.playground} label={`Answers of side ${side.name}`}>
        <p class='registry-faint' data-testid='side-empty'>
          {side.name === 'B' && compare.isSame.value
            ? 'Same as A. Choose another agent, model or prompt above.'
            : 'The answer appears here.'}
        </p>
      </SmallThread>
      <footer class='compare-foot'>
        {last?.role === 'assistant' ? <Took answer={last} side={side} /> : <p />}
        <button
          type='button'
          class='button'
          data-testid='side-keep'
          disabled={messages.length === 0 || isRunning(chat)}
          onClick={onKeep}
        >
          Keep as chat
        </button>
      </footer>
    </section>
  );
}

/** What the last answer took; cost where the provider's record has prices. */
function Took({ answer, side }: { answer: AssistantMessage; side: Side }): JSX.Element {
  const { tokensIn, tokensOut, durationMs, cost } = figuresOf(answer, side.provider.value);
  const isWriting = answer.outcome.value.type === 'running';
  return (
    <dl class='compare-figures' data-testid='figures' data-running={isWriting}>
      <Figure name='Time' value={durationMs === undefined ? '…' : formatDuration(durationMs)} />
      <Figure name='Input tokens' value={tokensIn?.toLocaleString('en') ?? '…'} />
      <Figure name='Output tokens' value={tokensOut?.toLocaleString('en') ?? '…'} />
      {cost !== undefined && <Figure name='Cost' value={cost} />}
    </dl>
  );
}

function Figure({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Who({ side, compare }: { side: Side; compare: Compare }): JSX.Element {
  const id = useId();
  const { agentId, variation, playground } = side;
  const { providerId = '', model = '', instructions } = variation.value;
  const chat = playground.chats.current.value;
  const isBusy = isRunning(chat);
  const hasStarted = chat.messages.value.length > 0;
  const isOpen = useSignal(side.name === 'B' && !hasStarted);
  useEffect(() => {
    if (hasStarted) isOpen.value = false; // the answer has the room
  }, [hasStarted]);
  const known = new Map(playground.agents.map((card) => [card.id, card.name]));
  return (
    <div class='compare-who'>
      <div class='field'>
        <label for={`${id}-agent`}>Agent {side.name}</label>
        <select
          id={`${id}-agent`}
          data-testid='side-agent'
          value={agentId.value}
          disabled={isBusy}
          onChange={({ currentTarget }) => void side.choose(currentTarget.value)}
        >
          {[...known].filter(([each]) => !each.startsWith('variant-')).map(([each, name]) => (
            <option key={each} value={each}>{name}</option>
          ))}
        </select>
      </div>
      <details
        class='registry-reason'
        data-testid='side-vary'
        open={isOpen.value}
        onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
      >
        <summary>
          {instructions === undefined && providerId === '' && model === '' ? 'Unchanged' : 'Different model or prompt'}
        </summary>
        <Variation side={side} compare={compare} isBusy={isBusy} />
      </details>
    </div>
  );
}

interface VariationProps {
  readonly side: Side;
  readonly compare: Compare;
  readonly isBusy: boolean;
}

/** The other model or prompt of a side. */
function Variation({ side, compare, isBusy }: VariationProps): JSX.Element {
  const id = useId();
  const { agent, variation } = side;
  const { providerId = '', model = '', instructions } = variation.value;
  const own = agent.value?.instructions ?? '';
  return (
    <div class='compare-vary'>
      <div class='field'>
        <label for={`${id}-provider`}>Provider</label>
        <select
          id={`${id}-provider`}
          data-testid='side-provider'
          value={providerId}
          disabled={isBusy}
          onChange={({ currentTarget }) => side.vary({ ...variation.value, providerId: currentTarget.value })}
        >
          <option value=''>Same as agent</option>
          {compare.providers.value.map((each) => <option key={each.id} value={each.id}>{each.id}</option>)}
        </select>
      </div>
      <div class='field'>
        <label for={`${id}-model`}>Model</label>
        <input
          id={`${id}-model`}
          type='text'
          autocomplete='off'
          data-testid='side-model'
          placeholder={nameOfModel(agent.value?.model ?? side.provider.value?.model ?? '')}
          value={model}
          disabled={isBusy}
          onChange={({ currentTarget }) => side.vary({ ...variation.value, model: currentTarget.value.trim() })}
        />
      </div>
      <div class='field'>
        <label for={`${id}-instructions`}>Instructions</label>
        <textarea
          id={`${id}-instructions`}
          rows={6}
          data-testid='side-instructions'
          value={instructions ?? own}
          disabled={isBusy}
          onChange={({ currentTarget }) => {
            const { instructions: _, ...others } = variation.value;
            const { value } = currentTarget;
            side.vary(value === own ? others : { ...others, instructions: value });
          }}
        />
      </div>
    </div>
  );
}

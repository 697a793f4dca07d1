import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { canGoOn, isUndecided } from '../state/approval.ts';
import { answerText, type AssistantMessage, runtimeName } from '../state/message.ts';
import { planOf, planToFollow } from '../state/plan.ts';
import type { Playground } from '../../app/state/playground.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { formatCount, formatDuration, formatMoney } from '../../kit/format.ts';
import { nameOfModel, scriptedLabel } from '../../kit/model-name.ts';
import { cachedShare, tokensOf } from '../state/figures.ts';
import { lazy } from '../../kit/lazy.tsx';
import { VersionSwitch } from './versions.tsx';
import { showRun } from '../../app/state/screens.ts';
import { Button } from '../../kit/button.tsx';

interface AnswerFooterProps {
  readonly message: AssistantMessage;
  readonly playground: Playground;
  readonly isLast: boolean;
}

/** What an answer cost, and what can be done with it. */
export function AnswerFooter({ message, playground, isLast }: AnswerFooterProps): JSX.Element {
  return (
    <footer class='answer-footer' data-testid='answer-footer'>
      <p class='answer-cost'>{costOf(message).map((text) => <span key={text}>{text}</span>)}</p>
      <div class='answer-actions'>
        <VersionSwitch chat={playground.chats.current.value} messageId={message.id} chats={playground.chats} />
        {answerText(message) !== '' && (
          <CopyButton
            testId='copy-answer'
            text={() => answerText(message)}
            label='Copy'
          />
        )}
        {/* The callout of an error has its own button to retry. */}
        {isLast && message.model !== runtimeName && !isUndecided(message) && !('error' in message.outcome.value) && (
          <Button kind='quiet' icon='retry' testId='retry' onClick={() => playground.retry()}>
            <span>{canGoOn(message) || planToFollow(message) ? 'Continue' : 'Regenerate'}</span>
          </Button>
        )}
        <TakeBackButton message={message} playground={playground} />
        <InspectButton message={message} playground={playground} />
      </div>
    </footer>
  );
}

const TakeBackDialog = lazy(async () => (await import('./take-back.tsx')).TakeBackDialog);

/** Opens what the answer did, to take it back. Nothing for an answer without tool calls. */
function TakeBackButton(
  { message, playground }: Pick<AnswerFooterProps, 'message' | 'playground'>,
): JSX.Element | null {
  const isOpen = useSignal(false);
  const { facts, outcome, parts } = message;
  const { run } = facts.value;
  if (!run || outcome.value.type === 'running' || !parts.value.some(({ type }) => type === 'tool')) return null;
  return (
    <>
      <Button kind='quiet' icon='undo' testId='take-back-open' onClick={() => (isOpen.value = true)}>
        <span>Take back…</span>
      </Button>
      {isOpen.value && (
        <TakeBackDialog
          message={message}
          runId={run.runId}
          playground={playground}
          onClose={() => (isOpen.value = false)}
        />
      )}
    </>
  );
}

/** Opens the run in the inspector, also while it runs. Nothing where the run id is unknown. */
export function InspectButton(
  { message, playground }: Pick<AnswerFooterProps, 'message' | 'playground'>,
): JSX.Element | null {
  const { facts, via } = message;
  const traceId = facts.value.run?.traceId;
  if (traceId === undefined) return null;
  return (
    <Button
      kind='quiet'
      icon='waterfall'
      testId='inspect'
      onClick={() => showRun(playground, { traceId, via, planId: planOf(message)?.planId })}
    >
      <span>Inspect</span>
    </Button>
  );
}

function costOf({ model, startedAt, outcome, facts }: AssistantMessage): string[] {
  const { usage, fallback } = facts.value;
  const share = cachedShare(usage?.cachedInputTokens, usage?.inputTokens);
  const ended = outcome.value.type === 'running' ? startedAt : outcome.value.endedAt;
  const duration = usage?.durationMs || ended - startedAt;
  const tokens = model === scriptedLabel ? 0 : tokensOf(usage);
  return [
    ...(duration > 0 ? [formatDuration(duration)] : []),
    ...(tokens > 0 ? [`${usage?.estimated ? 'about ' : ''}${formatCount(tokens, 'token')}`] : []),
    ...(share === undefined ? [] : [share]),
    ...(usage?.cost ? [formatMoney(usage.cost)] : []),
    fallback ? `${nameOfModel(fallback.modelId)} (fallback for ${model})` : model,
  ];
}

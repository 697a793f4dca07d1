import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { canGoOn, isUndecided } from '../state/approval.ts';
import { answerText, type AssistantMessage, runtimeName } from '../state/message.ts';
import type { Manifest, Usage } from '../state/run-data.ts';
import { planOf, planToFollow } from '../state/plan.ts';
import type { Playground } from '../../app/state/playground.ts';
import { CopyButton } from '../../kit/copy-button.tsx';
import { formatCount, formatDuration, formatMoney } from '../../kit/format.ts';
import { nameOfModel } from '../../settings/state/model-name.ts';
import { cachedShare } from '../state/figures.ts';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';
import { Fact } from './fact.tsx';
import { VersionSwitch } from './versions.tsx';
import { showRun } from '../../app/state/screens.ts';

interface AnswerFooterProps {
  readonly message: AssistantMessage;
  readonly playground: Playground;
  readonly isLast: boolean;
}

/** What an answer cost, and what can be done with it. */
export function AnswerFooter({ message, playground, isLast }: AnswerFooterProps): JSX.Element {
  const isOpen = useSignal(false);
  const id = useId();
  const details = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpen.value) details.current?.scrollIntoView({ block: 'nearest' });
  }, [isOpen.value]);
  return (
    <footer class='answer-footer' data-testid='answer-footer'>
      <p class='answer-cost'>{costOf(message).map((text) => <span key={text}>{text}</span>)}</p>
      <div class='answer-actions'>
        <VersionSwitch chat={playground.chats.current.value} messageId={message.id} playground={playground} />
        {answerText(message) !== '' && (
          <CopyButton
            testId='copy-answer'
            text={() => answerText(message)}
            label='Copy'
          />
        )}
        {/* The callout of an error has its own button to retry. */}
        {isLast && message.model !== runtimeName && !isUndecided(message) && !('error' in message.outcome.value) && (
          <button
            type='button'
            class='quiet-button'
            data-testid='retry'
            onClick={() => playground.retry()}
          >
            <Icon name='retry' />
            <span>{canGoOn(message) || planToFollow(message) ? 'Continue' : 'Regenerate'}</span>
          </button>
        )}
        <TakeBackButton message={message} playground={playground} />
        <InspectButton message={message} playground={playground} />
        <button
          type='button'
          class='quiet-button'
          data-testid='run-details'
          aria-expanded={isOpen.value}
          aria-controls={id}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <Icon name='info' />
          <span>Details</span>
        </button>
      </div>
      <div id={id} ref={details} class='run-facts' hidden={!isOpen.value}>
        {isOpen.value && <RunDetails message={message} />}
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
      <button type='button' class='quiet-button' data-testid='take-back-open' onClick={() => (isOpen.value = true)}>
        <Icon name='undo' />
        <span>Take back…</span>
      </button>
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
    <button
      type='button'
      class='quiet-button'
      data-testid='inspect'
      onClick={() => showRun(playground, { traceId, via, planId: planOf(message)?.planId })}
    >
      <Icon name='waterfall' />
      <span>Inspect</span>
    </button>
  );
}

function costOf({ model, startedAt, outcome, facts }: AssistantMessage): string[] {
  const { usage, fallback } = facts.value;
  const share = cachedShare(usage?.cachedInputTokens, usage?.inputTokens);
  const ended = outcome.value.type === 'running' ? startedAt : outcome.value.endedAt;
  const duration = usage?.durationMs || ended - startedAt;
  const tokens = usage?.totalTokens ?? (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return [
    ...(duration > 0 ? [formatDuration(duration)] : []),
    ...(usage && usage.steps > 0 ? [formatCount(usage.steps, 'step')] : []),
    ...(usage && usage.toolCalls > 0 ? [formatCount(usage.toolCalls, 'tool call')] : []),
    ...(tokens > 0 ? [`${usage?.estimated ? 'about ' : ''}${formatCount(tokens, 'token')}`] : []),
    ...(share === undefined ? [] : [share]),
    ...(usage?.cost ? [formatMoney(usage.cost)] : []),
    fallback ? `${nameOfModel(fallback.modelId)} (fallback for ${model})` : model,
  ];
}

/** Whether it says which tokens were input: the sum of a plan does not. */
function isSplit({ inputTokens = 0, outputTokens = 0 }: Pick<Usage, 'inputTokens' | 'outputTokens'>): boolean {
  return inputTokens + outputTokens > 0;
}

function RunDetails({ message: { facts } }: { message: AssistantMessage }): JSX.Element {
  const { run, manifest, usage, fallback } = facts.value;
  const excluded = Object.entries(manifest?.excluded ?? {});
  return (
    <dl class='facts'>
      {run && <Fact name='Run id' value={run.runId} />}
      {run?.traceId !== undefined && <Fact name='Trace id' value={run.traceId} />}
      {usage && isSplit(usage) && (
        <>
          <Fact name='Input tokens' value={(usage.inputTokens ?? 0).toLocaleString('en')} />
          <Fact name='Output tokens' value={(usage.outputTokens ?? 0).toLocaleString('en')} />
        </>
      )}
      {usage?.totalTokens !== undefined && !isSplit(usage) && (
        <Fact name='Tokens' value={usage.totalTokens.toLocaleString('en')} />
      )}
      {usage && usage.toolTokens > 0 && (
        <Fact name='Tool definitions' value={`about ${formatCount(usage.toolTokens, 'input token')}`} />
      )}
      {usage && usage.toolTokensSaved > 0 && (
        <Fact name='Saved by discovery' value={`about ${formatCount(usage.toolTokensSaved, 'input token')}`} />
      )}
      {usage?.cachedInputTokens !== undefined && (
        <Fact name='Read from cache' value={formatCount(usage.cachedInputTokens, 'input token')} />
      )}
      {usage?.cost && <Fact name='Cost' value={formatMoney(usage.cost)} />}
      {fallback && (
        <Fact name='Fallback model' value={`${nameOfModel(fallback.modelId)} (provider ${fallback.providerId})`} />
      )}
      {manifest && <Fact name='Tools offered' value={offered(manifest)} />}
      {excluded.length > 0 && (
        <Fact
          name='Tools not offered'
          value={excluded.map(([why, n]) => `${n} ${wordsOf(why)}`).join(', ')}
        />
      )}
      {manifest && <Fact name='Tool set digest' value={manifest.digest} />}
      {!run && !manifest && <Fact name='Run' value='No details available' />}
    </dl>
  );
}

const mostOffered = 40;

function offered({ included, more }: Manifest): string {
  const rest = more + Math.max(0, included.length - mostOffered);
  return `${included.slice(0, mostOffered).join(', ') || 'none'}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** `not_allowed` -> `not allowed`. */
function wordsOf(reason: string): string {
  return reason.replaceAll('_', ' ');
}

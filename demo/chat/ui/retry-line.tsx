import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Swell } from '../../kit/mark.tsx';
import { Said, useSaid } from '../../kit/said.tsx';
import { nameOfModel } from '../../kit/model-name.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { AssistantMessage, Retry } from '../state/message.ts';
import { Button } from '../../kit/button.tsx';

interface RetryLineProps {
  readonly retry: Retry;
  readonly message: AssistantMessage;
  readonly playground: Playground;
}

/** Why the model is called again, and in how many seconds. Screen readers read it once for each try. */
export function RetryLine({ retry, message, playground }: RetryLineProps): JSX.Element {
  const { announcement, chats, runs } = playground;
  const seconds = useCountdown(retry.dueAt);
  const traceId = message.facts.value.run?.traceId;
  const saidOf = (id: string): Promise<string | undefined> => runs.connect().said(id);
  const said = useSaid({ traceId, saidOf: message.via === undefined ? saidOf : undefined });
  useEffect(() => {
    announcement.value = `${causeOf(retry)} ${nextOf(retry, Math.ceil(retry.delayMs / 1000))}`;
  }, [retry]);
  return (
    <div class='retry-line' data-testid='retry-line' data-attempt={retry.attempt}>
      <Swell />
      <div>
        <p>
          {causeOf(retry)} <span class='retry-count'>{nextOf(retry, seconds)}</span>
          {!retry.isFallback && <span class='retry-of'>Try {retry.attempt} of {retry.of}</span>}
        </p>
        <Said text={said} />
      </div>
      <Button icon='stop' testId='retry-stop' onClick={() => chats.stop()}>
        Stop
      </Button>
    </div>
  );
}

const causes: Readonly<Record<string, string>> = {
  provider_rate_limited: 'The provider is busy.',
  provider_unavailable: 'The provider failed.',
  provider_unreachable: 'The provider cannot be reached.',
  provider_stream_cut: 'The connection closed before the answer.',
  provider_auth: 'The provider refused the key.',
  provider_quota: 'The account has no credit left.',
  first_chunk_timeout: 'The model did not start its answer in time.',
};

function causeOf({ reason = '' }: Retry): string {
  return (Object.hasOwn(causes, reason) ? causes[reason] : undefined) ?? 'The model call failed.';
}

function nextOf({ isFallback, modelId }: Retry, seconds: number): string {
  if (isFallback) return `Trying ${nameOfModel(modelId)}`;
  return seconds > 0 ? `Trying again in ${seconds}\u00a0s` : 'Trying again';
}

/** Returns the seconds until then, and draws the component again with each second. */
function useCountdown(dueAt: number): number {
  const secondsLeft = (): number => Math.max(0, Math.ceil((dueAt - Date.now()) / 1000));
  const left = useSignal(secondsLeft());
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tick = (): void => {
      const ms = dueAt - Date.now();
      left.value = secondsLeft();
      if (ms > 0) timer = setTimeout(tick, ms % 1000 || 1000);
    };
    tick();
    return () => clearTimeout(timer);
  }, [dueAt]);
  return left.value;
}

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { ModelChoice } from '../state/settings.ts';
import { Icon } from '../../kit/icon.tsx';
import { lazy } from '../../kit/lazy.tsx';

const ModelMenu = lazy(async () => (await import('./model-menu.tsx')).ModelMenu);

/** Which model answers and where it is. Opens the menu of models; before any was connected, and without its key, the dialog. */
export function ModelBadge({ playground }: { playground: Playground }): JSX.Element {
  const { settings, chats, overlay } = playground;
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const choice = settings.choice.value;
  const own = chats.current.value.settings.value.model;
  const { first, second } = wordsOf(choice, own);
  const isLocked = choice.type === 'endpoint' && choice.locked;
  const hasMenu = !isLocked && (settings.connections.value.length > 0 || settings.servers.value.length > 0);
  return (
    <>
      <button
        ref={button}
        type='button'
        class='badge'
        data-testid='model-badge'
        data-model={choice.type}
        data-locked={isLocked}
        aria-haspopup='dialog'
        aria-expanded={hasMenu ? isOpen.value : undefined}
        aria-label={`Model: ${first}, ${second}. ${hasMenu ? 'Choose a model' : 'Connect a model'}`}
        onClick={() => hasMenu ? (isOpen.value = !isOpen.value) : (overlay.value = 'settings')}
      >
        {isLocked ? <Icon name='lock' /> : <span class='badge-light' />}
        <span class='badge-first'>{first}</span>
        <span class='badge-second'>
          <span aria-hidden='true'>·</span> {second}
        </span>
        <span class='badge-more'>
          <Icon name='chevron' />
        </span>
      </button>
      {isOpen.value && button.current && (
        <ModelMenu playground={playground} opener={button.current} onClose={() => (isOpen.value = false)} />
      )}
    </>
  );
}

function wordsOf(
  choice: ModelChoice,
  own: { readonly id: string; readonly at: string } | undefined,
): { readonly first: string; readonly second: string } {
  if (choice.type === 'rehearsal') return { first: 'Scripted demo', second: 'connect a model' };
  if (choice.type === 'browser') return { first: 'This browser', second: 'built-in model' };
  if (choice.type === 'pinnace') return { first: hostOf(choice.url), second: 'Pinnace server' };
  const model = own?.at === choice.baseUrl ? own.id : choice.model;
  return { first: choice.locked ? 'Key needed' : model, second: hostOf(choice.baseUrl) };
}

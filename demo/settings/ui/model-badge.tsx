import type { JSX } from 'preact';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import type { Playground } from '../../app/state/playground.ts';
import type { ModelChoice } from '../state/settings.ts';
import { Icon } from '../../kit/icon.tsx';

/** Which model answers and where it is; opens the settings. */
export function ModelBadge({ playground }: { playground: Playground }): JSX.Element {
  const choice = playground.settings.choice.value;
  const { first, second } = wordsOf(choice);
  const isLocked = choice.type === 'endpoint' && choice.locked;
  return (
    <button
      type='button'
      class='badge'
      data-testid='model-badge'
      data-model={choice.type}
      data-locked={isLocked}
      title='Model settings'
      aria-label={`Model: ${first}, ${second}. Open the model settings`}
      onClick={() => (playground.overlay.value = 'settings')}
    >
      {isLocked ? <Icon name='lock' /> : <span class='badge-light' />}
      <span class='badge-first'>{first}</span>
      <span class='badge-second'>
        <span aria-hidden='true'>·</span> {second}
      </span>
    </button>
  );
}

function wordsOf(choice: ModelChoice): { readonly first: string; readonly second: string } {
  if (choice.type === 'rehearsal') return { first: 'Scripted demo', second: 'connect a model' };
  if (choice.type === 'browser') return { first: 'This browser', second: 'built-in model' };
  if (choice.type === 'pinnace') return { first: hostOf(choice.url), second: 'Pinnace server' };
  return { first: hostOf(choice.baseUrl), second: choice.locked ? 'key needed' : choice.model };
}

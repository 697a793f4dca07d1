import type { JSX } from 'preact';
import type { AssistantMessage } from '../../chat/state/message.ts';
import type { Playground } from '../../app/state/playground.ts';
import { scriptedLabel } from '../../kit/model-name.ts';
import { Button } from '../../kit/button.tsx';

interface ConnectModelProps {
  readonly message: AssistantMessage;
  readonly playground: Playground;
}

/** Under a scripted answer: what wrote it, and the way to a model. Nothing once a model is connected. */
export function ConnectModel({ message, playground }: ConnectModelProps): JSX.Element | null {
  const { settings, overlay } = playground;
  if (message.model !== scriptedLabel || settings.choice.value.type !== 'rehearsal') return null;
  return (
    <p class='scripted' data-testid='scripted'>
      This is a scripted demo with real tools, not an AI model.
      <Button kind='quiet' testId='connect-model' onClick={() => (overlay.value = 'settings')}>
        Connect a model
      </Button>
    </p>
  );
}

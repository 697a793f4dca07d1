import type { JSX } from 'preact';
import { hostOf } from '../../endpoint/state/endpoint.ts';
import type { Builder } from '../state/builder.ts';
import type { Playground } from '../../app/state/playground.ts';
import { endpointOf } from '../../settings/state/settings.ts';
import { Facts } from '../../kit/facts.tsx';
import { ShareSection } from './share-section.tsx';

interface TryStepProps {
  readonly builder: Builder;
  readonly playground: Playground;
  readonly onTry: (agentId: string) => void;
}

/** The agent at a glance; it is saved, and a chat with it is opened. */
export function TryStep({ builder, playground, onTry }: TryStepProps): JSX.Element {
  const form = builder.form.value;
  const values = form?.values.value ?? {};
  const lines = (field: string): string => (values[field] ?? '').split('\n').filter((line) => line !== '').join(', ');
  const elsewhere = endpointOf(playground.settings.choice.value);
  const tryIt = async (): Promise<void> => {
    const agent = await builder.save();
    if (agent) onTry(agent.id);
  };
  return (
    <>
      <Facts
        facts={[
          ['Name', values['name'] ?? ''],
          ['Instructions', values['instructions'] ?? ''],
          ['Model', [values['providerId'], values['model']].filter((part) => part).join(', ')],
          ['Tools', lines('entryTools')],
          ['MCP servers', lines('mcp')],
          ['Files', lines('dataSources')],
        ]}
      />
      {elsewhere !== undefined && (
        <p class='registry-faint'>
          Chats run at {hostOf(elsewhere)}. Import the agent there, or choose a model of this page to try it here.
        </p>
      )}
      <div class='button-row'>
        <button
          type='button'
          class='button is-primary'
          data-testid='builder-try'
          disabled={form?.isSaving.value}
          onClick={() => void tryIt()}
        >
          Save and try
        </button>
        <button
          type='button'
          class='button'
          data-testid='builder-save'
          disabled={form?.isSaving.value}
          onClick={() => void builder.save()}
        >
          Save
        </button>
        {builder.saved.value && (
          <button
            type='button'
            class='button'
            data-testid='builder-another'
            onClick={() => void builder.start()}
          >
            Create another
          </button>
        )}
      </div>
      {builder.saved.value && (
        <ShareSection
          control={builder.control}
          agentId={builder.saved.value.id}
          revision={builder.saved.value.revision}
        />
      )}
    </>
  );
}

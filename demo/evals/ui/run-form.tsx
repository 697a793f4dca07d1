import type { JSX } from 'preact';
import { formatCount } from '../../kit/format.ts';
import type { EvalSetting } from '../../control/evals-control.ts';
import type { EvalsPage } from '../state/evals.ts';

export function RunForm({ page }: { page: EvalsPage }): JSX.Element {
  const { agent, answers, model } = page.setting.value;
  const isRunning = page.isRunning.value;
  const count = page.evals.value?.cases.length ?? 0;
  return (
    <form
      class='eval-form'
      onSubmit={(event) => {
        event.preventDefault();
        void page.run();
      }}
    >
      <Choice
        label='Agent'
        testId='eval-agent'
        value={agent}
        options={[['current', 'As it is now'], ['recorded', 'As recorded in the case']]}
        onChoose={(value) => page.change({ agent: value as EvalSetting['agent'] })} // one of the options
      />
      <Choice
        label='Model'
        testId='eval-provider'
        value={model?.providerId ?? ''}
        options={[['', 'The agent’s'], ...page.providers.value.map(({ id }) => [id, `Provider ${id}`] as const)]}
        onChoose={(providerId) => page.change({ model: providerId === '' ? undefined : { providerId } })}
      />
      {model && (
        <label>
          <span>Model</span>
          <input
            type='text'
            placeholder='The provider’s default'
            value={model.modelId ?? ''}
            onInput={({ currentTarget: { value } }) =>
              page.change({
                model: { providerId: model.providerId, ...(value.trim() !== '' && { modelId: value.trim() }) },
              })}
          />
        </label>
      )}
      <Choice
        label='Model answers'
        testId='eval-answers'
        value={answers}
        options={[
          ['auto', 'Call the model for missing answers'],
          ['replay', 'Use recorded answers only (no key needed)'],
          ['record', 'Record all answers again'],
        ]}
        onChoose={(value) => page.change({ answers: value as EvalSetting['answers'] })} // one of the options
      />
      <button type='submit' class='button is-primary' data-testid='eval-run' disabled={isRunning}>
        {isRunning ? 'Running' : `Run ${formatCount(count, 'case')}`}
      </button>
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly testId: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, testId, value, options, onChoose }: ChoiceProps): JSX.Element {
  return (
    <label>
      <span>{label}</span>
      <select data-testid={testId} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map(([id, text]) => <option key={id} value={id}>{text}</option>)}
      </select>
    </label>
  );
}

import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { checkEndpoint, type EndpointFields, type FieldErrors } from '../state/endpoint.ts';
import type { Playground } from '../state/playground.ts';
import { Dialog } from './dialog.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { Icon } from './icon.tsx';

/** Which model answers: the embedded rehearsal model, or an endpoint of the person's own. */
export function SettingsDialog({ playground }: { playground: Playground }): JSX.Element {
  const { settings, overlay } = playground;
  const type = useSignal(settings.choice.value.type);
  const errors = useSignal<FieldErrors>({});
  const failure = useSignal('');
  const form = useRef<HTMLFormElement>(null);

  const close = (): void => {
    forgetKey(form.current);
    overlay.value = 'none';
  };
  const save = async (): Promise<void> => {
    if (type.value === 'rehearsal') return await settings.useRehearsal();
    const checked = checkEndpoint(fieldsOf(form.current));
    errors.value = checked.ok ? {} : checked.errors;
    if (!checked.ok) throw new InvalidFields();
    await settings.useEndpoint(checked.endpoint);
  };
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    try {
      await save();
      close();
      playground.focusRequests.value++;
    } catch (error) {
      if (error instanceof InvalidFields) focusFirst(form.current, errors.value);
      else failure.value = 'The agent worker did not take the settings. Reload the page and try again.';
    }
  };
  return (
    <Dialog class='settings' label='Model settings' testId='settings-dialog' onClose={close}>
      <form ref={form} noValidate autocomplete='off' onSubmit={(event) => void onSubmit(event)}>
        <header class='dialog-head'>
          <h2>Model</h2>
          <button type='button' class='icon-button' aria-label='Close' onClick={close}>
            <Icon name='cross' />
          </button>
        </header>
        <ModelChoice type={type} />
        {type.value === 'endpoint' && <EndpointForm choice={settings.choice.value} errors={errors} />}
        {failure.value !== '' && <p class='field-error' role='alert'>{failure.value}</p>}
        <footer class='dialog-foot'>
          <button type='button' class='button' data-testid='settings-cancel' onClick={close}>Cancel</button>
          <button type='submit' class='button is-primary' data-testid='settings-save'>
            {type.value === 'endpoint' ? 'Use this endpoint' : 'Use rehearsal'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function ModelChoice({ type }: { type: Signal<'rehearsal' | 'endpoint'> }): JSX.Element {
  return (
    <fieldset class='model-choice'>
      <legend class='visually-hidden'>Which model answers</legend>
      <Choice
        value='rehearsal'
        title='Rehearsal'
        text='A small scripted model inside this page. Free, instant, offline: nothing leaves the page.'
        isChosen={type.value === 'rehearsal'}
        onChoose={() => (type.value = 'rehearsal')}
      />
      <Choice
        value='endpoint'
        title='Your endpoint'
        text='Any OpenAI-compatible endpoint. Messages and tool results are sent there, straight from this page.'
        isChosen={type.value === 'endpoint'}
        onChoose={() => (type.value = 'endpoint')}
      />
    </fieldset>
  );
}

interface ChoiceProps {
  readonly value: 'rehearsal' | 'endpoint';
  readonly title: string;
  readonly text: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Choice({ value, title, text, isChosen, onChoose }: ChoiceProps): JSX.Element {
  return (
    <label class='choice' data-chosen={isChosen}>
      <input
        type='radio'
        name='type'
        value={value}
        checked={isChosen}
        data-testid={`settings-${value}`}
        onChange={onChoose}
      />
      <span class='choice-title'>{title}</span>
      <span class='choice-text'>{text}</span>
    </label>
  );
}

class InvalidFields extends Error {}

/** The key is read here and nowhere else, and goes to the worker. */
function fieldsOf(form: HTMLFormElement | null): EndpointFields {
  const data = new FormData(form ?? undefined);
  const text = (name: string): string => {
    const value = data.get(name);
    return typeof value === 'string' ? value : '';
  };
  return { baseUrl: text('baseUrl'), model: text('model'), apiKey: text('apiKey'), keyless: data.has('keyless') };
}

function forgetKey(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLInputElement>('input[name=apiKey]');
  if (field) field.value = '';
}

function focusFirst(form: HTMLFormElement | null, errors: FieldErrors): void {
  const [name] = Object.keys(errors);
  if (name !== undefined) form?.querySelector<HTMLInputElement>(`input[name=${name}]`)?.focus();
}

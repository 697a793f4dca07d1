import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type FieldErrors, hostOf } from '../state/endpoint.ts';
import type { ModelChoice } from '../../settings/state/settings.ts';
import { Field } from '../../kit/field.tsx';

/** The fields of an endpoint. They hold their own values; the key is in its field and nowhere else. */
export function EndpointForm({ choice, errors }: { choice: ModelChoice; errors: Signal<FieldErrors> }): JSX.Element {
  const known = choice.type === 'endpoint' ? choice : { baseUrl: '', model: '', keyless: false, locked: false };
  const keyless = useSignal(known.keyless);
  const key = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (known.locked) key.current?.focus();
  }, []);
  const { baseUrl, model, apiKey } = errors.value;
  const keyHelp = known.locked
    ? `The key for ${hostOf(known.baseUrl)} was not stored. Enter it again.`
    : 'Held in the agent worker’s memory and sent only to this endpoint. It is never stored; enter it again after a reload.';
  return (
    <div class='fields'>
      <Field
        name='baseUrl'
        label='Base URL'
        testId='settings-base-url'
        value={known.baseUrl}
        placeholder='https://api.example.com/v1'
        help='Remembered in this browser. The endpoint must allow requests from web pages (CORS).'
        error={baseUrl}
      />
      <Field
        name='model'
        label='Model'
        testId='settings-model'
        value={known.model}
        placeholder='model name at the endpoint'
        help='Remembered in this browser.'
        error={model}
      />
      <Field
        name='apiKey'
        label='Key'
        isSecret
        testId='settings-key'
        value=''
        placeholder=''
        help={keyHelp}
        error={apiKey}
        disabled={keyless.value}
        field={key}
      />
      <label class='tick'>
        <input
          type='checkbox'
          name='keyless'
          data-testid='settings-keyless'
          checked={keyless.value}
          onChange={({ currentTarget }) => (keyless.value = currentTarget.checked)}
        />
        This endpoint needs no key
      </label>
    </div>
  );
}

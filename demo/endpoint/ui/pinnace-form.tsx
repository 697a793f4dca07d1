import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { FieldErrors } from '../../kit/field.tsx';
import type { ModelChoice } from '../../settings/state/settings.ts';
import { Field } from '../../kit/field.tsx';

/** Where `npm start` serves the sample endpoint. */
const usual = 'http://127.0.0.1:8787';

export function PinnaceForm({ choice, errors }: { choice: ModelChoice; errors: Signal<FieldErrors> }): JSX.Element {
  return (
    <div class='fields'>
      <Field
        name='url'
        label='Address'
        testId='settings-url'
        value={choice.type === 'pinnace' ? choice.url : usual}
        placeholder={usual}
        help='Remembered in this browser. Each visit creates a new signing key, which never leaves this page and must be certified by “npm start”.'
        error={errors.value.url}
      />
    </div>
  );
}

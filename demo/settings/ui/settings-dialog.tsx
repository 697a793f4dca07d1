import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { toData } from '../../../src/base/errors.ts';
import type { BrowserModelAvailability } from '../../../adapters/models/browser/page.ts';
import {
  checkEndpoint,
  checkPinnaceUrl,
  type EndpointFields,
  type FieldErrors,
} from '../../endpoint/state/endpoint.ts';
import type { Playground } from '../../app/state/playground.ts';
import { describeProblem } from '../../chat/state/problem.ts';
import type { ModelChoice as Choice, Settings } from '../state/settings.ts';
import { type BrowserState, createBrowserState } from '../state/browser-state.ts';
import { BrowserForm } from './browser-form.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { EndpointForm } from '../../endpoint/ui/endpoint-form.tsx';
import { Icon } from '../../kit/icon.tsx';
import { ModelChoice } from './model-choice.tsx';
import { PinnaceForm } from '../../endpoint/ui/pinnace-form.tsx';

/** The source of answers: the browser's own model, a model server, a Pinnace server, or the scripted demo. */
export function SettingsDialog({ playground }: { playground: Playground }): JSX.Element {
  const { settings, overlay } = playground;
  const type = useSignal(settings.choice.value.type);
  const errors = useSignal<FieldErrors>({});
  const failure = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  const browser = useMemo(() => createBrowserState(), []);
  useEffect(() => {
    void browser.check();
    return () => browser.stop();
  }, []);

  const close = (): void => {
    forgetKey(form.current);
    overlay.value = 'none';
  };
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    failure.value = '';
    try {
      errors.value = await save(settings, { type: type.value, form: form.current });
      if (Object.keys(errors.value).length > 0) return focusFirst(form.current, errors.value);
      close();
      playground.focusRequests.value++;
    } catch (error) {
      failure.value = explain(type.value, error);
    }
  };
  return (
    <Dialog class='settings' label='Connect a model' testId='settings-dialog' onClose={close}>
      <form ref={form} noValidate autocomplete='off' onSubmit={(event) => void onSubmit(event)}>
        <header class='dialog-head'>
          <h2>Connect a model</h2>
          <button type='button' class='icon-button' aria-label='Close' onClick={close}>
            <Icon name='cross' />
          </button>
        </header>
        <ModelChoice source={type} states={{ browser: stateOf(browser) }}>
          {type.value === 'browser' && <BrowserForm browser={browser} />}
          {type.value === 'endpoint' && <EndpointForm choice={settings.choice.value} errors={errors} />}
          {type.value === 'pinnace' && <PinnaceForm choice={settings.choice.value} errors={errors} />}
        </ModelChoice>
        {failure.value !== '' && <p class='field-error' role='alert' data-testid='settings-failure'>{failure.value}</p>}
        <footer class='dialog-foot'>
          <button type='button' class='button' data-testid='settings-cancel' onClick={close}>Cancel</button>
          <button
            type='submit'
            class='button is-primary'
            data-testid='settings-save'
            disabled={type.value === 'browser' && browser.availability.value !== 'available'}
          >
            {submitLabels[type.value]}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const submitLabels: Readonly<Record<Choice['type'], string>> = {
  browser: 'Use this browser’s model',
  endpoint: 'Use this model',
  pinnace: 'Use this server',
  rehearsal: 'Use the demo',
};

const states: Readonly<Record<BrowserModelAvailability, string>> = {
  available: 'Ready',
  downloadable: 'Download needed',
  downloading: 'Downloading',
  unavailable: 'Not available',
};

function stateOf({ availability: { value } }: BrowserState): string | undefined {
  return value && states[value];
}

/** Applies the choice, or returns the errors of its fields. */
async function save(
  settings: Settings,
  { type, form }: { readonly type: Choice['type']; readonly form: HTMLFormElement | null },
): Promise<FieldErrors> {
  const { url, ...fields } = fieldsOf(form);
  switch (type) {
    case 'rehearsal':
      await settings.useRehearsal();
      return {};
    case 'browser':
      await settings.useBrowser();
      return {};
    case 'endpoint': {
      const checked = checkEndpoint(fields);
      if (checked.ok) await settings.useEndpoint(checked.endpoint);
      return checked.ok ? {} : checked.errors;
    }
    case 'pinnace': {
      const checked = checkPinnaceUrl(url);
      if (checked.ok) await settings.usePinnace(checked.url);
      return checked.ok ? {} : checked.errors;
    }
    default:
      return type satisfies never;
  }
}

function explain(type: Choice['type'], error: unknown): string {
  if (type !== 'pinnace') return 'The page’s worker did not take the settings. Reload the page and try again.';
  const { title, advice } = describeProblem(toData(error));
  return `${title}. ${advice}`;
}

/** The key is read here and nowhere else, and goes to the worker. */
function fieldsOf(form: HTMLFormElement | null): EndpointFields & { readonly url: string } {
  const data = new FormData(form ?? undefined);
  const text = (name: string): string => {
    const value = data.get(name);
    return typeof value === 'string' ? value : '';
  };
  const [baseUrl, model, apiKey, url] = [text('baseUrl'), text('model'), text('apiKey'), text('url')];
  return { baseUrl, model, apiKey, url, keyless: data.has('keyless') };
}

function forgetKey(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLInputElement>('input[name=apiKey]');
  if (field) field.value = '';
}

function focusFirst(form: HTMLFormElement | null, errors: FieldErrors): void {
  const [name] = Object.keys(errors);
  if (name !== undefined) form?.querySelector<HTMLInputElement>(`input[name=${name}]`)?.focus();
}

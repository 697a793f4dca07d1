import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { toData } from '../../../src/base/errors.ts';
import type { BrowserModelAvailability } from '../../../adapters/models/browser/page.ts';
import { checkEndpoint, checkPinnaceUrl, type EndpointFields } from '../../endpoint/state/endpoint.ts';
import { type FieldErrors } from '../../kit/field.tsx';
import type { Playground } from '../../app/state/playground.ts';
import type { ModelChoice as ModelChoiceState } from '../state/settings.ts';
import { describeProblem } from '../../chat/state/problem.ts';
import { type BrowserState, createBrowserState } from '../state/browser-state.ts';
import { BrowserForm } from './browser-form.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { EndpointForm } from '../../endpoint/ui/endpoint-form.tsx';
import { Icon } from '../../kit/icon.tsx';
import { keepInVault } from '../state/keep-key.ts';
import { type FoundServer, lookForServers } from '../state/local-servers.ts';
import { LocalForm } from './local-form.tsx';
import { ModelChoice, type Source } from './model-choice.tsx';
import { PinnaceForm } from '../../endpoint/ui/pinnace-form.tsx';

/** The source of answers: the browser's own model, a model server, a Pinnace server, or the scripted demo. */
export function SettingsDialog({ playground }: { playground: Playground }): JSX.Element {
  const { settings, overlay } = playground;
  const known = useMemo(() => knownOf(settings), []);
  const type = useSignal<Source>(overlay.peek() === 'server' ? 'pinnace' : known.type);
  const found = useSignal<readonly FoundServer[] | undefined>(undefined);
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
      errors.value = await save(playground, { type: type.value, form: form.current });
      if (Object.keys(errors.value).length > 0) return focusFirst(form.current, errors.value);
      close();
      playground.focusRequests.value++;
    } catch (error) {
      failure.value = explain(type.value, error);
    }
  };
  return (
    <Dialog class='settings' label='Connect a model' testId='settings-dialog' onClose={close}>
      <form
        ref={form}
        noValidate
        autocomplete='off'
        onSubmit={(event) => void onSubmit(event)}
        onInput={({ target }) => repair(errors, target)}
      >
        <header class='dialog-head'>
          <h2>Connect a model</h2>
          <button type='button' class='icon-button' aria-label='Close' onClick={close}>
            <Icon name='cross' />
          </button>
        </header>
        <ModelChoice source={type} states={{ browser: stateOf(browser) }}>
          {type.value === 'browser' && <BrowserForm browser={browser} />}
          {type.value === 'local' && <LocalForm found={found} look={() => lookForServers()} />}
          {type.value === 'endpoint' && (
            <EndpointForm
              choice={known}
              settings={settings}
              errors={errors}
              connectVault={playground.registry.connect}
            />
          )}
          {type.value === 'pinnace' && <PinnaceForm choice={settings.choice.value} errors={errors} />}
        </ModelChoice>
        {failure.value !== '' && <p class='field-error' role='alert' data-testid='settings-failure'>{failure.value}</p>}
        <footer class='dialog-foot'>
          <button type='button' class='button' data-testid='settings-cancel' onClick={close}>Cancel</button>
          <button
            type='submit'
            class='button is-primary'
            data-testid='settings-save'
            disabled={(type.value === 'browser' && browser.availability.value !== 'available') ||
              (type.value === 'local' && !hasModel(found.value))}
          >
            {submitLabels[type.value]}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** What the form starts with: the choice, or the model of a connection whose key is missing. */
function knownOf({ choice, connections, prefill }: Playground['settings']): ModelChoiceState {
  const wanted = prefill.peek();
  if (!wanted) return choice.peek();
  prefill.value = undefined;
  const { keyless = false, inVault = false } = connections.peek().find(({ baseUrl }) => baseUrl === wanted.baseUrl) ??
    {};
  return { type: 'endpoint', ...wanted, keyless, inVault, locked: true };
}

/** A field that is being repaired is no longer wrong. */
function repair(errors: Signal<FieldErrors>, target: EventTarget | null): void {
  const name = target instanceof HTMLInputElement ? target.name : '';
  // The key's field is right with and without a key once the server needs none.
  const repaired = new Set([name === 'keyless' ? 'apiKey' : name]);
  const left = Object.entries(errors.peek()).filter(([field]) => !repaired.has(field));
  if (left.length < Object.keys(errors.peek()).length) errors.value = Object.fromEntries(left);
}

/** Whether a server on this computer has a model to use. */
function hasModel(found: readonly FoundServer[] = []): boolean {
  return found.some(({ state }) => state.type === 'open' && state.models.length > 0);
}

const submitLabels: Readonly<Record<Source, string>> = {
  local: 'Use this model',
  browser: 'Use the browser’s model',
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
  { settings, registry }: Playground,
  { type, form }: { readonly type: Source; readonly form: HTMLFormElement | null },
): Promise<FieldErrors> {
  const { url, keep, passphrase, local, ...fields } = fieldsOf(form);
  switch (type) {
    case 'rehearsal':
      await settings.useRehearsal();
      return {};
    case 'browser':
      await settings.useBrowser();
      return {};
    case 'endpoint': {
      const { value: known } = settings.choice;
      const isKnown = known.type === 'endpoint' && known.baseUrl === fields.baseUrl.trim();
      const isInWorker = isKnown && !known.locked && !known.keyless;
      const hasStored = isInWorker || (keep === 'vault' && isKnown && known.inVault === true);
      const checked = checkEndpoint({ ...fields, hasStored });
      if (!checked.ok) return checked.errors;
      const isSame = isInWorker && !fields.keyless && checked.endpoint.apiKey === undefined;
      if (isSame && await settings.useModel(checked.endpoint)) return {};
      if (keep !== 'vault' || fields.keyless) await settings.useEndpoint(checked.endpoint);
      else {
        const stored = await keepInVault(registry.connect(), checked.endpoint, passphrase);
        if (!stored.ok) return { passphrase: `${stored.error.message}.` };
        await settings.useEndpoint(stored.value);
      }
      return {};
    }
    case 'local': {
      const [baseUrl = '', ...model] = local.split(' ');
      await settings.useEndpoint({ baseUrl, model: model.join(' ') });
      return {};
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

function explain(type: Source, error: unknown): string {
  if (type !== 'pinnace') return 'The page’s worker did not take the settings. Reload the page and try again.';
  const { title, advice } = describeProblem(toData(error));
  return `${title}. ${advice}`;
}

/** The key is read here and nowhere else, and goes to the worker. */
function fieldsOf(
  form: HTMLFormElement | null,
): EndpointFields & Readonly<Record<'url' | 'keep' | 'passphrase' | 'local', string>> {
  const data = new FormData(form ?? undefined);
  const text = (name: string): string => {
    const value = data.get(name);
    return typeof value === 'string' ? value : '';
  };
  const [baseUrl, model, apiKey, url] = [text('baseUrl'), text('model'), text('apiKey'), text('url')];
  const [keep, passphrase, local] = [text('keep'), text('passphrase'), text('local')];
  return { baseUrl, model, apiKey, url, keep, passphrase, local, keyless: data.has('keyless') };
}

function forgetKey(form: HTMLFormElement | null): void {
  for (const field of form?.querySelectorAll<HTMLInputElement>('input[type=password]') ?? []) field.value = '';
}

function focusFirst(form: HTMLFormElement | null, errors: FieldErrors): void {
  const [name] = Object.keys(errors);
  if (name !== undefined) form?.querySelector<HTMLInputElement>(`input[name=${name}]`)?.focus();
}

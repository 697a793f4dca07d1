import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { BrowserModelAvailability } from '../../../adapters/models/browser/page.ts';
import { toData } from '../../../src/base/errors.ts';
import type { Playground } from '../../app/state/playground.ts';
import { describeProblem } from '../../chat/state/problem.ts';
import { checkEndpoint, checkPinnaceUrl, type EndpointFields } from '../../endpoint/state/endpoint.ts';
import { EndpointForm } from '../../endpoint/ui/endpoint-form.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, type FieldErrors } from '../../kit/field.tsx';
import { Problem } from '../../kit/problem.tsx';
import { type BrowserState, createBrowserState } from '../state/browser-state.ts';
import { keepInVault } from '../state/keep-key.ts';
import { type FoundServer, lookForServers } from '../state/local-servers.ts';
import type { ModelChoice as ModelChoiceState } from '../state/settings.ts';
import { LocalForm } from './local-form.tsx';
import { Button, IconButton } from '../../kit/button.tsx';

/** The source of answers: the browser's own model, a model server, a Pinnace server, or the scripted demo. */
export function SettingsDialog({ playground }: { playground: Playground }): JSX.Element {
  const { settings, overlay } = playground;
  const known = useMemo(() => knownOf(settings), []);
  const type = useSignal<Source>(overlay.peek() === 'server' ? 'pinnace' : known.type);
  const found = useSignal<readonly FoundServer[] | undefined>(undefined);
  const errors = useSignal<FieldErrors>({});
  const failure = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  const browser = useBrowserModel();
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
          <IconButton icon='cross' label='Close' onClick={close} />
        </header>
        <ModelChoice source={type} states={{ browser: stateOf(browser) }}>
          <Fields
            type={type.value}
            known={known}
            found={found}
            errors={errors}
            browser={browser}
            playground={playground}
          />
        </ModelChoice>
        {failure.value !== '' && <p class='field-error' role='alert' data-testid='settings-failure'>{failure.value}</p>}
        <Foot type={type.value} found={found} browser={browser} onCancel={close} />
      </form>
    </Dialog>
  );
}

function useBrowserModel(): BrowserState {
  const browser = useMemo(() => createBrowserState(), []);
  useEffect(() => {
    void browser.check();
    return () => browser.stop();
  }, []);
  return browser;
}

function Foot({ type, found, browser, onCancel }: Pick<FieldsProps, 'type' | 'found' | 'browser'> & {
  readonly onCancel: () => void;
}): JSX.Element {
  return (
    <footer class='dialog-foot'>
      <Button testId='settings-cancel' onClick={onCancel}>Cancel</Button>
      <Button
        type='submit'
        kind='primary'
        testId='settings-save'
        disabled={(type === 'browser' && browser.availability.value !== 'available') ||
          (type === 'local' && !hasModel(found.value))}
      >
        {submitLabels[type]}
      </Button>
    </footer>
  );
}

interface FieldsProps {
  readonly type: Source;
  readonly known: ModelChoiceState;
  readonly found: Signal<readonly FoundServer[] | undefined>;
  readonly errors: Signal<FieldErrors>;
  readonly browser: BrowserState;
  readonly playground: Playground;
}

/** What the chosen source needs. */
function Fields({ type, known, found, errors, browser, playground }: FieldsProps): JSX.Element | null {
  const { settings } = playground;
  switch (type) {
    case 'browser':
      return <BrowserForm browser={browser} />;
    case 'local':
      return <LocalForm found={found} look={() => lookForServers()} />;
    case 'endpoint':
      return (
        <EndpointForm choice={known} settings={settings} errors={errors} connectVault={playground.registry.connect} />
      );
    case 'pinnace':
      return <PinnaceForm choice={settings.choice.value} errors={errors} />;
    case 'rehearsal':
      return null;
    default:
      return type satisfies never;
  }
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

const availabilities: Readonly<Record<BrowserModelAvailability, string>> = {
  available: 'Ready',
  downloadable: 'Download needed',
  downloading: 'Downloading',
  unavailable: 'Not available',
};

function stateOf({ availability: { value } }: BrowserState): string | undefined {
  return value && availabilities[value];
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

/** What a person chooses from. */
export type Source = ModelChoiceState['type'] | 'local';

const choices: readonly { readonly value: Source; readonly title: string; readonly text: string }[] = [
  {
    value: 'browser',
    title: 'This browser',
    text: 'The model that comes with the browser. No key, no cost; nothing leaves this device.',
  },
  {
    value: 'local',
    title: 'This computer',
    text: 'A model of Ollama, LM Studio, llama.cpp or vLLM that runs here. Nothing is sent elsewhere.',
  },
  {
    value: 'endpoint',
    title: 'A model server, with your key',
    text: 'OpenRouter, OpenAI, Groq and others, or any OpenAI-compatible address. Messages and tool results are sent ' +
      'there, straight from this page.',
  },
  {
    value: 'pinnace',
    title: 'A Pinnace server',
    text: 'Agents and tools run there instead of in this page, with the server’s own models. Every request is signed.',
  },
  {
    value: 'rehearsal',
    title: 'Scripted demo',
    text: 'No AI: a script that calls the real tools. Free, instant, offline.',
  },
];

interface ModelChoiceProps {
  readonly source: Signal<Source>;
  /** What a choice needs to know, shown below the chosen one. */
  readonly children: ComponentChildren;
  /** A word beside a title. */
  readonly states: Partial<Record<Source, string | undefined>>;
}

export function ModelChoice({ source, children, states }: ModelChoiceProps): JSX.Element {
  return (
    <fieldset class='model-choice'>
      <legend class='visually-hidden'>Choose a model</legend>
      {choices.map(({ value, title, text }) => {
        const isChosen = source.value === value;
        return (
          <div key={value} class='choice' data-chosen={isChosen}>
            <label class='choice-label'>
              <input
                type='radio'
                name='type'
                value={value}
                checked={isChosen}
                data-testid={`settings-${value}`}
                onChange={() => (source.value = value)}
              />
              <span class='choice-title'>
                {title}
                {states[value] !== undefined && (
                  <span class='choice-state' data-testid={`state-${value}`}>{states[value]}</span>
                )}
              </span>
              <span class='choice-text'>{text}</span>
            </label>
            {isChosen && children}
          </div>
        );
      })}
    </fieldset>
  );
}

/** The browser's own model: whether it is there, and its download. */
export function BrowserForm({ browser }: { browser: BrowserState }): JSX.Element {
  const { availability, loaded, problem } = browser;
  return (
    <div class='fields' data-testid='browser-model' data-availability={availability.value}>
      {loaded.value === undefined
        ? <Availability browser={browser} />
        : <Download loaded={loaded.value} onStop={() => browser.stop()} />}
      <Problem text={problem.value} testId='browser-problem' />
    </div>
  );
}

function Availability({ browser }: { browser: BrowserState }): JSX.Element {
  switch (browser.availability.value) {
    case undefined:
      return <p class='field-help'>Checking the browser…</p>;
    case 'available':
      return (
        <p class='field-help'>
          Ready. It runs on this device, also offline. It is small: expect short answers and simple tool calls.
        </p>
      );
    case 'unavailable':
      return (
        <p class='field-help'>
          Not available in this browser. Chrome 148 or later has a model on computers with 22 GB of free disk and either
          more than 4 GB of video memory or 16 GB of memory. Firefox, Safari and phones have none.
        </p>
      );
    default:
      return (
        <>
          <p class='field-help'>
            The browser downloads its model once, for all sites: several gigabytes. After that it works offline.
          </p>
          <div class='button-row'>
            <Button testId='browser-download' onClick={() => void browser.download()}>
              Download model
            </Button>
          </div>
        </>
      );
  }
}

function Download({ loaded, onStop }: { loaded: number; onStop: () => void }): JSX.Element {
  const percent = Math.floor(loaded * 100);
  return (
    <>
      <label class='download'>
        <span>Downloading the model: {percent} %</span>
        <progress value={loaded} max={1} data-testid='browser-progress' />
      </label>
      <div class='button-row'>
        <Button onClick={onStop}>Stop waiting</Button>
      </div>
    </>
  );
}

/** Where `npm start` serves the sample endpoint. */
const usual = 'http://127.0.0.1:8787';

export function PinnaceForm(
  { choice, errors }: { choice: ModelChoiceState; errors: Signal<FieldErrors> },
): JSX.Element {
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

import { type Signal, useSignal } from '@preact/signals';
import type { JSX, RefObject } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { VaultControl, VaultState } from '../../control/registry-control.ts';
import { Field, type FieldErrors } from '../../kit/field.tsx';
import { Problem } from '../../kit/problem.tsx';
import { listModels, type ServerAccess, type ServerReply, testModel } from '../../settings/state/ask-server.ts';
import { openRouterUrl, signInWithOpenRouter } from '../../settings/state/openrouter.ts';
import { hostedProviders, providerAt } from '../../settings/state/providers.ts';
import type { ModelChoice, Settings } from '../../settings/state/settings.ts';
import { hostOf } from '../state/endpoint.ts';
import { formatDuration } from '../../kit/format.ts';
import { Choice } from '../../kit/choice.tsx';
import { Button } from '../../kit/button.tsx';

interface EndpointFormProps {
  readonly choice: ModelChoice;
  readonly settings: Settings;
  readonly errors: Signal<FieldErrors>;
  readonly connectVault: () => VaultControl;
}

type Input = RefObject<HTMLInputElement | null>;

/** The fields of a model server. They hold their own values; the key is in its field and nowhere else. */
export function EndpointForm({ choice, settings, errors, connectVault }: EndpointFormProps): JSX.Element {
  const known = choice.type === 'endpoint' ? choice : { baseUrl: '', model: '', keyless: false, locked: false };
  const isStored = choice.type === 'endpoint' && !choice.locked && !choice.keyless;
  const keyless = useSignal(known.keyless);
  const at = useSignal(known.baseUrl);
  const address = useRef<HTMLInputElement>(null);
  const model = useRef<HTMLInputElement>(null);
  const key = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (known.locked) key.current?.focus();
  }, []);
  const onKey = (value: string): void => {
    at.value = openRouterUrl;
    keyless.value = false;
    fill(address, openRouterUrl);
    fill(key, value);
    if (model.current?.value === '') fill(model, 'openrouter/auto'); // it chooses a model by itself
  };
  return (
    <div class='fields' onInput={() => (at.value = address.current?.value ?? '')}>
      <Provider at={at} address={address} />
      {(at.value === '' || providerAt(at.value)?.id === 'openrouter') && <OpenRouter onKey={onKey} />}
      <Field
        name='baseUrl'
        label='Server address'
        testId='settings-base-url'
        value={known.baseUrl}
        placeholder='https://api.example.com/v1'
        help='Remembered in this browser. The server must allow requests from web pages (CORS).'
        error={errors.value.baseUrl}
        field={address}
      />
      <Field
        name='apiKey'
        label='Key'
        isSecret
        testId='settings-key'
        value=''
        placeholder={isStored ? 'stored' : ''}
        help={helpOfKey(choice, at.value)}
        error={errors.value.apiKey}
        disabled={keyless.value}
        field={key}
      />
      <KeyLink at={at.value} />
      <KeylessBox keyless={keyless} />
      {!keyless.value && <KeyPlace choice={choice} errors={errors} connectVault={connectVault} />}
      <ModelField
        known={known.model}
        error={errors.value.model}
        inputs={{ address, model, key }}
        errors={errors}
        ask={isStored ? (asked) => settings.ask(asked) : undefined}
        stored={known.baseUrl}
      />
    </div>
  );
}

/** Where the key is, for the chosen server; for another address, where it goes. */
function helpOfKey(choice: ModelChoice, address: string): string {
  if (choice.type !== 'endpoint') return 'Sent only to this server.';
  const { baseUrl, keyless, locked, inVault } = choice;
  if (locked && inVault) return 'The key is in the vault: leave this empty, and open the vault below.';
  if (locked) return `The key for ${hostOf(baseUrl)} was not stored. Enter it again.`;
  const isStored = !keyless && address === baseUrl;
  return isStored
    ? `The key for ${hostOf(baseUrl)} is stored. Leave this empty to keep it.`
    : 'Sent only to this server.';
}

function KeylessBox({ keyless }: { readonly keyless: Signal<boolean> }): JSX.Element {
  return (
    <label class='tick'>
      <input
        type='checkbox'
        name='keyless'
        data-testid='settings-keyless'
        checked={keyless.value}
        onChange={({ currentTarget }) => (keyless.value = currentTarget.checked)}
      />
      This server needs no key
    </label>
  );
}

function fill({ current }: Input, value: string): void {
  if (current) current.value = value;
}

/** Fills in the address of a hosted provider. */
function Provider({ at, address }: { at: Signal<string>; address: Input }): JSX.Element {
  return (
    <div class='field'>
      <Choice
        label='Provider'
        testId='settings-provider'
        value={providerAt(at.value)?.id ?? ''}
        options={[
          ['', at.value === '' ? 'Choose one, or fill in an address' : 'Another server'],
          ...hostedProviders.map(({ id, name }) => [id, name] as const),
        ]}
        onChoose={(chosen) => {
          at.value = hostedProviders.find(({ id }) => id === chosen)?.baseUrl ?? '';
          fill(address, at.value);
        }}
      />
      <p class='field-help'>
        Anthropic does not answer web pages this way: use its models through OpenRouter or a Pinnace server.
      </p>
    </div>
  );
}

function KeyLink({ at }: { at: string }): JSX.Element | null {
  const provider = providerAt(at);
  if (!provider) return null;
  return (
    <p class='field-help'>
      <a href={provider.keys} target='_blank' rel='noopener noreferrer'>Create a key at {provider.name}</a>
    </p>
  );
}

interface ModelFieldProps {
  readonly known: string;
  readonly error: string | undefined;
  readonly inputs: { readonly address: Input; readonly model: Input; readonly key: Input };
  readonly errors: Signal<FieldErrors>;
  /** Asks a server by its stored key, if there is one for the address `stored`. */
  readonly ask: Settings['ask'] | undefined;
  readonly stored: string;
}

/** The model's name, with the server's list to pick from, and a try of both. */
function ModelField({ known, error, inputs, errors, ask: askStored, stored }: ModelFieldProps): JSX.Element {
  const listId = useId();
  const models = useSignal<readonly string[]>([]);
  const said = useSignal<Reply | undefined>(undefined);
  const isBusy = useSignal(false);
  const ask = async <T,>(work: () => Promise<ServerReply<T>>, words: (value: T) => string): Promise<void> => {
    isBusy.value = true;
    said.value = undefined;
    const reply = await work();
    said.value = reply.ok ? { ok: true, text: words(reply.value) } : reply;
    isBusy.value = false;
  };
  const access = (): ServerAccess => accessOf(inputs);
  const withStored = (): Settings['ask'] | undefined =>
    access().apiKey === undefined && access().baseUrl === stored ? askStored : undefined;
  const onList = () =>
    ask(() => listed(access(), withStored()), (found) => {
      models.value = found;
      return `${found.length} models found. Type a name or choose one from the list.`;
    });
  const onTest = () => {
    const name = (inputs.model.current?.value ?? '').trim();
    if (name === '') {
      errors.value = { ...errors.peek(), model: 'Enter the name of the model to test' };
      return inputs.model.current?.focus();
    }
    return ask(
      () => tested({ ...access(), model: name }, withStored()),
      (ms) => `Connected: the answer started after ${formatDuration(ms)}.`,
    );
  };
  return (
    <>
      <Field
        name='model'
        label='Model'
        testId='settings-model'
        value={known}
        placeholder='Model name on the server'
        help='Remembered in this browser.'
        error={error}
        field={inputs.model}
        list={listId}
      />
      <datalist id={listId} data-testid='settings-models'>
        {models.value.map((name) => <option key={name} value={name} />)}
      </datalist>
      <div class='button-row'>
        <Button testId='settings-list' disabled={isBusy.value} onClick={() => void onList()}>
          List models
        </Button>
        <Button testId='settings-test' disabled={isBusy.value} onClick={() => void onTest()}>
          Test connection
        </Button>
      </div>
      <Said said={isBusy.value ? { ok: true, text: 'Connecting to the server…' } : said.value} />
    </>
  );
}

function accessOf({ address, key }: ModelFieldProps['inputs']): ServerAccess {
  return {
    baseUrl: (address.current?.value ?? '').trim().replace(/\/+$/, ''),
    ...(key.current?.value && { apiKey: key.current.value.trim() }),
  };
}

interface Reply {
  readonly ok: boolean;
  readonly text: string;
}

function Said({ said }: { readonly said: Reply | undefined }): JSX.Element {
  return (
    <p
      class={said?.ok === false ? 'field-error' : 'field-help'}
      role='status'
      data-testid='settings-said'
      data-ok={said?.ok}
    >
      {said?.text}
    </p>
  );
}

async function listed(access: ServerAccess, ask: Settings['ask'] | undefined): Promise<ServerReply<readonly string[]>> {
  if (!ask) return await listModels(access);
  const answer = await ask({ baseUrl: access.baseUrl });
  return answer.ok ? { ok: true, value: 'models' in answer ? answer.models : [] } : answer;
}

async function tested(
  access: ServerAccess & { readonly model: string },
  ask: Settings['ask'] | undefined,
): Promise<ServerReply<number>> {
  if (!ask) return await testModel(access);
  const answer = await ask({ baseUrl: access.baseUrl, model: access.model });
  return answer.ok ? { ok: true, value: 'afterMs' in answer ? answer.afterMs : 0 } : answer;
}

/** Signs in with OpenRouter, which then sends a key for this page. */
function OpenRouter({ onKey }: { onKey: (key: string) => void }): JSX.Element {
  const state = useSignal<'idle' | 'waiting' | 'done'>('idle');
  const problem = useSignal<string | undefined>(undefined);
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const signIn = async (): Promise<void> => {
    abort.current = new AbortController();
    problem.value = undefined;
    state.value = 'waiting';
    const reply = await signInWithOpenRouter({
      returnTo: location.href,
      signal: abort.current.signal,
      openWindow: (url) => window.open(url, 'pinnace-sign-in', 'popup,width=520,height=720') !== null,
    });
    if (reply.ok) onKey(reply.value);
    else problem.value = reply.text;
    state.value = reply.ok ? 'done' : 'idle';
  };
  return (
    <div class='fields'>
      <div class='button-row'>
        <Button testId='openrouter-sign-in' disabled={state.value === 'waiting'} onClick={() => void signIn()}>
          {state.value === 'waiting' ? 'Waiting for OpenRouter…' : 'Sign in with OpenRouter'}
        </Button>
        {state.value === 'waiting' && <Button onClick={() => abort.current?.abort()}>Cancel sign-in</Button>}
      </div>
      <p class='field-help' role='status' data-testid='openrouter-state' data-state={state.value}>
        {state.value === 'done'
          ? 'Signed in: the key is filled in. Choose a model below.'
          : 'One account for many models, some of them free. OpenRouter sends the key to this page; you do not copy it.'}
      </p>
      <Problem text={problem.value} testId='openrouter-problem' />
    </div>
  );
}

interface KeyPlaceProps {
  readonly choice: ModelChoice;
  readonly errors: Signal<FieldErrors>;
  readonly connectVault: () => VaultControl;
}

/** How long a key is kept: with this tab, or encrypted in the vault. */
function KeyPlace({ choice, errors, connectVault }: KeyPlaceProps): JSX.Element {
  const inVault = useSignal(choice.type === 'endpoint' && choice.inVault === true);
  const vault = useSignal<VaultState | undefined>(undefined);
  useEffect(() => {
    if (!inVault.value || vault.value) return;
    void connectVault().vault().then((answer) => (vault.value = answer.ok ? answer.value : undefined));
  }, [inVault.value]);
  const isNew = vault.value?.secrets.length === 0;
  return (
    <fieldset class='fields key-place'>
      <legend class='field-label'>Where to keep the key</legend>
      <label class='tick'>
        <input
          type='radio'
          name='keep'
          value='session'
          checked={!inVault.value}
          onChange={() => (inVault.value = false)}
        />
        In this tab only
      </label>
      <label class='tick'>
        <input
          type='radio'
          name='keep'
          value='vault'
          checked={inVault.value}
          data-testid='keep-vault'
          onChange={() => (inVault.value = true)}
        />
        In the vault, encrypted with a passphrase
      </label>
      {inVault.value && vault.value && !vault.value.isOpen && (
        <Field
          name='passphrase'
          label='Vault passphrase'
          isSecret
          testId='settings-passphrase'
          value=''
          placeholder=''
          help={isNew ? 'Create a passphrase (8+ characters). It cannot be recovered.' : 'Opens the vault in this tab.'}
          error={errors.value.passphrase}
        />
      )}
    </fieldset>
  );
}

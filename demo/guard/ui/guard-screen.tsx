import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { OverScreen } from '../../app/frame/over-screen.tsx';
import type { Playground } from '../../app/state/playground.ts';
import { GuideLink } from '../../kit/guide-link.tsx';
import { Icon } from '../../kit/icon.tsx';
import { type Attack, attacks, type Level, type Trial, type TrialEvent } from '../state/try-attack.ts';
import '../style.css';
import { Button } from '../../kit/button.tsx';

type Trials = Readonly<Partial<Record<Level, Trial>>>;

const levels: readonly (readonly [Level, title: string, lead: string])[] = [
  ['open', 'Open', 'The model reads texts of strangers and acts without asking.'],
  ['watched', 'Watched', 'Once the model has read a text of a stranger, each action asks you.'],
  ['guarded', 'Guarded', 'The model that acts never reads texts of strangers.'],
];

const verdicts: Readonly<Record<Trial['verdict'], string>> = {
  passed: 'The attack succeeds',
  asks: 'It waits for you',
  stopped: 'The attack cannot happen',
};

/** Five attacks against the same agent at three levels. The model is scripted and obeys everyone; the runtime is the real one. */
export function GuardScreen({ playground }: { playground: Playground }): JSX.Element {
  const chosen = useSignal(attacks[0]);
  const trials = useSignal<Trials>({});
  const isRunning = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const run = async (attack: Attack): Promise<void> => {
    [chosen.value, trials.value, isRunning.value, problem.value] = [attack, {}, true, undefined];
    try {
      const { tryAttack } = await import('../state/try-attack.ts');
      for (const [level] of levels) trials.value = { ...trials.value, [level]: await tryAttack(attack, level) };
    } catch (error) {
      problem.value = error instanceof Error ? error.message : 'The attack could not be tried';
    } finally {
      isRunning.value = false;
    }
  };
  const attack = chosen.value;
  return (
    <OverScreen
      playground={playground}
      name='guard'
      label='Try to trick an agent'
      problem={problem.value}
    >
      <p class='privacy-lead'>
        The same agent at three levels. Its model is a script that obeys every text it reads, so only the runtime can
        stop an attack. Everything runs in this page, without a key and without requests.{' '}
        <GuideLink page='guarded'>How it works</GuideLink>
      </p>
      <Attacks chosen={attack} isRunning={isRunning.value} onRun={(one) => void run(one)} />
      {attack && (
        <dl class='guard-request'>
          <dt>You ask</dt>
          <dd>{attack.request}</dd>
          <dt>Hidden in what it reads</dt>
          <dd class='guard-order'>{attack.order}</dd>
        </dl>
      )}
      <div class='guard-levels' aria-live='polite' aria-busy={isRunning.value}>
        {levels.map(([level, title, lead]) => (
          <section key={level} class='guard-level' data-testid={`level-${level}`} aria-labelledby={`guard-${level}`}>
            <h2 id={`guard-${level}`}>{title}</h2>
            <p class='privacy-faint'>{lead}</p>
            <Outcome trial={trials.value[level]} isRunning={isRunning.value} />
          </section>
        ))}
      </div>
      {attack && <Program attack={attack} />}
    </OverScreen>
  );
}

function Attacks({ chosen, isRunning, onRun }: {
  readonly chosen: Attack | undefined;
  readonly isRunning: boolean;
  readonly onRun: (attack: Attack) => void;
}): JSX.Element {
  return (
    <ul class='guard-attacks' aria-label='Attacks'>
      {attacks.map((one) => (
        <li key={one.id}>
          <Button
            testId={`attack-${one.id}`}
            aria-pressed={one === chosen}
            aria-disabled={isRunning}
            onClick={() => isRunning || onRun(one)}
          >
            {one.title}
          </Button>
        </li>
      ))}
    </ul>
  );
}

function Program({ attack }: { readonly attack: Attack }): JSX.Element {
  return (
    <details class='guard-program'>
      <summary>The program of the guarded agent</summary>
      {attack.acts && (
        <p>
          It states before it starts what it calls:{' '}
          {attack.acts.map(({ tool, times }) => `${tool} × ${times}`).join(', ')}
        </p>
      )}
      <pre tabIndex={0}><code>{attack.program}</code></pre>
    </details>
  );
}

function Outcome({ trial, isRunning }: { trial: Trial | undefined; isRunning: boolean }): JSX.Element {
  if (!trial) return <p class='guard-waits'>{isRunning ? 'Running…' : 'Choose an attack.'}</p>;
  return (
    <>
      <p class='guard-verdict' data-testid='verdict' data-verdict={trial.verdict}>{verdicts[trial.verdict]}</p>
      <ol class='guard-events'>
        {trial.events.map((event, i) => (
          <li key={i} data-kind={event.kind} data-attack={event.isAttack}>
            <Icon name={event.kind === 'asks' ? 'wait' : event.kind === 'done' ? 'check' : 'file'} />
            <span>{sentenceOf(event)}</span>
          </li>
        ))}
      </ol>
      <p class='privacy-faint'>
        {trial.hasSeen ? 'The model has read the order.' : 'The model has never seen the order.'}
      </p>
    </>
  );
}

function sentenceOf({ kind, text, isAttack }: TrialEvent): string {
  const who = isAttack ? ' (what the attacker wants)' : '';
  switch (kind) {
    case 'read':
      return `Reads with ${text}`;
    case 'done':
      return `Calls ${text}${who}`;
    case 'asks':
      return `Asks you before ${text}${who}`;
    case 'quoted':
      return `Quotes: “${text}”`;
    default:
      return kind satisfies never;
  }
}

import type { JSX } from 'preact';
import type { PromptUse, TimeSplit, Usage } from '../state/breakdown.ts';
import type { OpenedRun } from '../state/opened-run.ts';
import { formatDuration } from '../../kit/format.ts';
import { nameOfModel } from '../../kit/model-name.ts';
import { Button } from '../../kit/button.tsx';

/** Where the run's time and tokens went, in all and step by step. */
export function UsageView({ run, onPrompt }: { run: OpenedRun; onPrompt: () => void }): JSX.Element {
  const { total, steps, prompts } = run.breakdown.value;
  return (
    <div class='run-scroll' data-testid='usage-view'>
      <section>
        <h2>Whole run</h2>
        <TimeBar time={total.time} of={total.time.totalMs} />
        <dl class='usage-legend'>
          <Part kind='model' name='Model' ms={total.time.modelMs} of={total.time.totalMs} />
          <Part kind='tool' name='Tools' ms={total.time.toolMs} of={total.time.totalMs} />
          <Part kind='wait' name='Waiting' ms={total.time.waitMs} of={total.time.totalMs} />
          <div>
            <dt>Tokens</dt>
            <dd>
              {total.inputTokens.toLocaleString('en')} input, {total.outputTokens.toLocaleString('en')} output
            </dd>
          </div>
        </dl>
      </section>
      <section>
        <h2>By step</h2>
        {steps.length === 0
          ? <p class='inspector-faint' data-testid='usage-no-steps'>This run has no steps.</p>
          : <Steps steps={steps} />}
      </section>
      {prompts.length > 0 && (
        <section>
          <h2>Prompts</h2>
          <Prompts
            prompts={prompts}
            onBreak={(key) => {
              run.select(key);
              onPrompt();
            }}
          />
        </section>
      )}
    </div>
  );
}

function Steps({ steps }: { readonly steps: readonly Usage[] }): JSX.Element {
  const mostMs = Math.max(1, ...steps.map(({ time }) => time.totalMs));
  const mostTokens = Math.max(1, ...steps.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens));
  return (
    <div class='usage-scroll' tabIndex={0} role='region' aria-label='Steps'>
      <table class='usage-table' data-testid='usage-steps'>
        <thead>
          <tr>
            <th scope='col'>Step</th>
            <th scope='col'>Time</th>
            <th scope='col' class='is-number'>Model</th>
            <th scope='col' class='is-number'>First token</th>
            <th scope='col' class='is-number'>Tools</th>
            <th scope='col' class='is-number'>Waiting</th>
            <th scope='col'>Tokens</th>
            <th scope='col' class='is-number'>Input</th>
            <th scope='col' class='is-number'>Output</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <Step
              key={step.key}
              step={step}
              mostMs={mostMs}
              mostTokens={mostTokens}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One bar for each model call: what of its input was read from the cache, written to it, and new. */
function Prompts(
  { prompts, onBreak }: { prompts: readonly PromptUse[]; onBreak: (key: string) => void },
): JSX.Element {
  const most = Math.max(1, ...prompts.map(({ input }) => input));
  return (
    <>
      <dl class='usage-legend'>
        {[['cached', 'Read from cache'], ['written', 'Written to cache'], ['in', 'New']].map(([kind, name]) => (
          <div key={kind}>
            <dt>
              <i class='usage-key' data-kind={kind} aria-hidden='true' />
              {name}
            </dt>
          </div>
        ))}
        <div>
          <dt>
            <i class='usage-key' data-kind='cacheable' aria-hidden='true' />
            Unchanged since the call before
          </dt>
        </div>
      </dl>
      <ol class='prompt-uses'>
        {prompts.map((prompt, i) => (
          <li key={prompt.key} data-testid='prompt-use'>
            <span>{i + 1}. {nameOfModel(prompt.model)}</span>
            <PromptBar prompt={prompt} most={most} />
            <span class='inspector-faint'>{inWords(prompt)}</span>
            {prompt.break && (
              <Button
                kind='quiet'
                testId='prompt-break'
                title='Show what has changed'
                onClick={() => onBreak(prompt.key)}
              >
                {prompt.break.reason ?? 'unexpected change'} −{prompt.break.lost.toLocaleString('en')}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Decorative; the numbers are beside it. */
function PromptBar({ prompt: { input, cached = 0, written, cacheable }, most }: {
  prompt: PromptUse;
  most: number;
}): JSX.Element {
  return (
    <span class='prompt-bar' aria-hidden='true'>
      <span class='usage-bar'>
        <i data-kind='cached' style={{ width: percent(cached, most) }} />
        <i data-kind='written' style={{ width: percent(written, most) }} />
        <i data-kind='in' style={{ width: percent(input - cached - written, most) }} />
      </span>
      <i class='prompt-cacheable' style={{ width: percent(Math.min(cacheable, input), most) }} />
    </span>
  );
}

function inWords({ input, cached, written, cacheable }: PromptUse): string {
  const count = (tokens: number, what: string): string[] =>
    tokens > 0 ? [`${tokens.toLocaleString('en')} ${what}`] : [];
  return [
    `${input.toLocaleString('en')} input`,
    ...count(cached ?? 0, 'cached'),
    ...count(written, 'written'),
    ...count(cacheable, 'unchanged (estimate)'),
  ].join(', ');
}

function Step(
  { step, mostMs, mostTokens }: { step: Usage; mostMs: number; mostTokens: number },
): JSX.Element {
  const { name, agentId, address, time, inputTokens, outputTokens, firstChunkMs, failures } = step;
  return (
    <tr data-testid='usage-step'>
      <th scope='row'>
        {name}
        <span class='inspector-faint'>
          {agentId}
          {address !== undefined && ` ${address}`}
          {failures > 0 && `, ${failures} failed`}
        </span>
      </th>
      <td>
        <TimeBar time={time} of={mostMs} />
      </td>
      <td class='is-number'>{formatDuration(time.modelMs)}</td>
      <td class='is-number'>{firstChunkMs === undefined ? '–' : formatDuration(firstChunkMs)}</td>
      <td class='is-number'>{formatDuration(time.toolMs)}</td>
      <td class='is-number'>{formatDuration(time.waitMs)}</td>
      <td>
        <span class='usage-bar' aria-hidden='true'>
          <i data-kind='in' style={{ width: percent(inputTokens, mostTokens) }} />
          <i data-kind='out' style={{ width: percent(outputTokens, mostTokens) }} />
        </span>
      </td>
      <td class='is-number'>{inputTokens.toLocaleString('en')}</td>
      <td class='is-number'>{outputTokens.toLocaleString('en')}</td>
    </tr>
  );
}

/** Decorative; the numbers are beside it. */
function TimeBar({ time: { modelMs, toolMs, waitMs }, of }: { time: TimeSplit; of: number }): JSX.Element {
  return (
    <span class='usage-bar' aria-hidden='true'>
      <i data-kind='model' style={{ width: percent(modelMs, of) }} />
      <i data-kind='tool' style={{ width: percent(toolMs, of) }} />
      <i data-kind='wait' style={{ width: percent(waitMs, of) }} />
    </span>
  );
}

function Part({ kind, name, ms, of }: { kind: string; name: string; ms: number; of: number }): JSX.Element {
  return (
    <div data-testid={`usage-${kind}`}>
      <dt>
        <i class='usage-key' data-kind={kind} aria-hidden='true' />
        {name}
      </dt>
      <dd>
        {formatDuration(ms)} <span class='inspector-faint'>{Math.round(100 * ms / Math.max(1, of))} %</span>
      </dd>
    </div>
  );
}

function percent(part: number, of: number): string {
  return `${(100 * Math.max(0, part) / Math.max(1, of)).toFixed(2)}%`;
}

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { type Builder, createBuilder, type Step, steps } from '../state/builder.ts';
import { followInside } from '../../app/state/inside.ts';
import type { Playground } from '../../app/state/playground.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';
import { showAgents, uncover } from '../../app/state/screens.ts';
import { OverScreen } from '../../kit/over-screen.tsx';
import { Problem } from '../../kit/problem.tsx';
import { ConflictNotice, FormFields } from '../../registry/ui/record-edit.tsx';
import { VaultSection } from '../../vault/ui/vault-section.tsx';
import { useCurrentInView } from '../../kit/hooks/use-current-in-view.ts';
import { PreviewPane } from './lazy-preview.tsx';
import { TemplateCards } from './template-cards.tsx';
import { SideForm } from './side-form.tsx';
import { ToolsStep } from './tools-step.tsx';
import { TryStep } from './try-step.tsx';

/** Leads through the making of an agent. What is written stays as long as the page does. */
export function BuilderScreen({ playground }: { playground: Playground }): JSX.Element {
  const builder = builderOf(playground);
  const { side, step, form } = builder;
  const close = (): void => showAgents(playground, { where: 'page' });
  const isAside = side.value !== undefined;
  return (
    <OverScreen
      playground={playground}
      name='builder'
      label='New agent'
      title={titleOf(builder)}
      back={isAside ? 'Back to the agent' : 'Back to the agents'}
      onBack={() => isAside ? builder.leave() : close()}
      problem={builder.problem.value}
      view={side.value?.kind ?? step.value}
    >
      <div class='registry'>
        {side.value && <SideForm builder={builder} side={side.value} />}
        {!side.value && form.value && (
          <div class='builder-columns'>
            <div>
              <Steps builder={builder} step={step.value} playground={playground} />
            </div>
            <PreviewPane builder={builder} playground={playground} />
          </div>
        )}
      </div>
    </OverScreen>
  );
}

function titleOf({ side, saved, form }: Builder): string {
  if (side.value) {
    const { kind } = side.value;
    return { tool: 'New tool', mcpServer: 'MCP server', provider: 'New model' }[kind];
  }
  const name = form.value?.values.value['name'] ?? '';
  return name.trim() !== '' ? name : saved.value?.name ?? 'New agent';
}

/** In the strip of steps, beside the preview. */
const shortNames: Readonly<Partial<Record<Step, string>>> = { limits: 'Limits', try: 'Try' };

const names: Readonly<Record<Step, string>> = {
  about: 'What it does',
  model: 'Model',
  tools: 'Tools',
  limits: 'Limits and secrets',
  try: 'Try and share',
};

function Steps({ builder, step, playground }: {
  readonly builder: Builder;
  readonly step: Step;
  readonly playground: Playground;
}): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [step]);
  const strip = useCurrentInView<HTMLOListElement>(step);
  const at = steps.indexOf(step);
  const next = steps[at + 1];
  const before = steps[at - 1];
  return (
    <>
      <nav class='builder-steps' aria-label='Steps'>
        <ol ref={strip} class='tabs'>
          {steps.map((each) => (
            <li key={each}>
              <button
                type='button'
                class='tab'
                data-testid={`builder-step-${each}`}
                aria-current={each === step ? 'step' : undefined}
                onClick={() => (builder.step.value = each)}
              >
                {shortNames[each] ?? names[each]}
              </button>
            </li>
          ))}
        </ol>
      </nav>
      <div class='registry-page' data-testid='builder-page' data-step={step}>
        <h2 ref={heading} tabIndex={-1}>{names[step]}</h2>
        <StepView builder={builder} step={step} playground={playground} />
        <div class='dialog-foot'>
          {before && (
            <button type='button' class='button' onClick={() => (builder.step.value = before)}>
              Back
            </button>
          )}
          {next && (
            <button
              type='button'
              class='button is-primary'
              data-testid='builder-next'
              onClick={() => (builder.step.value = next)}
            >
              Next: {names[next]}
            </button>
          )}
        </div>
      </div>
    </>
  );
}

interface StepViewProps {
  readonly builder: Builder;
  readonly step: Step;
  readonly playground: Playground;
}

function StepView({ builder, step, playground }: StepViewProps): JSX.Element | null {
  const form = builder.form.value;
  if (!form) return null;
  const fields = (...wanted: readonly string[]) =>
    form.fields.filter(({ name }) => wanted.some((each) => name === each || name.startsWith(`${each}.`)));
  switch (step) {
    case 'about':
      return (
        <>
          {builder.isUnwritten.value && <TemplateCards builder={builder} />}
          <p class='registry-faint'>Give the agent a name and instructions. You can change everything later.</p>
          <FormFields form={form} fields={fields('name', 'description', 'instructions')} />
        </>
      );
    case 'model':
      return (
        <>
          <p class='registry-faint'>
            “default” is the model of this page: the scripted demo, until you connect a model.
          </p>
          <FormFields form={form} fields={fields('providerId', 'model', 'modelSettings')} />
          <div class='button-row'>
            <button
              type='button'
              class='button'
              data-testid='make-provider'
              onClick={() => void builder.make('provider', { kind: 'openai-compatible' })}
            >
              Add a model…
            </button>
          </div>
        </>
      );
    case 'tools':
      return <ToolsStep builder={builder} />;
    case 'limits':
      return (
        <>
          <FormFields form={form} fields={fields('limits')} />
          <FormFields form={form} fields={fields('secrets')} />
          <Vault builder={builder} />
        </>
      );
    case 'try':
      return (
        <>
          <ConflictNotice form={form} />
          <Problem text={form.problem.value} testId='form-problem' />
          <TryStep builder={builder} playground={playground} onTry={(id) => void tryOut(id, playground)} />
        </>
      );
    default:
      return step satisfies never;
  }
}

function Vault({ builder: { vault } }: { builder: Builder }): JSX.Element {
  useEffect(() => void vault.load(), []);
  return (
    <section>
      <h2>Secrets</h2>
      <VaultSection vault={vault} />
    </section>
  );
}

/** Opens a chat with the agent. */
async function tryOut(agentId: string, playground: Playground): Promise<void> {
  await playground.refreshAgents();
  uncover(playground);
  playground.chats.start(agentId);
  playground.focusRequests.value++;
}

const builderOf = oncePer((playground: Playground): Builder => {
  const builder = createBuilder({
    control: playground.registry.connect(),
    onChanged: () => void playground.refreshAgents().catch(() => undefined), // the chats go on with the cards that there are
    announce: (text) => void (playground.announcement.value = text),
  });
  const started = builder.start();
  followInside({
    at: playground.builderAt,
    read: () => builder.step.value === steps[0] ? [] : [builder.step.value],
    async go([wanted]) {
      await started; // it starts at the first step
      builder.step.value = steps.find((step) => step === wanted) ?? steps[0];
    },
  });
  return builder;
});

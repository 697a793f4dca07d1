import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { McpServer } from '../../../src/registry/index.ts';
import type { Builder, Side } from '../state/builder.ts';
import { Problem } from '../../kit/problem.tsx';
import { McpSections } from '../../registry/ui/mcp-sections.tsx';
import { FormFields } from '../../registry/ui/record-edit.tsx';
import { ToolWork } from './tool-work.tsx';

/** The fields of each kind here; the registry's pages have the rest. */
const fieldsOf: Readonly<Record<Side['kind'], readonly string[]>> = {
  tool: ['name', 'description'],
  mcpServer: ['alias', 'url', 'secret'],
  provider: ['id', 'kind', 'baseUrl', 'model', 'secret', 'prices'],
};

/** Makes a tool, a server or a provider on the way to the agent. */
export function SideForm({ builder, side }: { builder: Builder; side: Side }): JSX.Element {
  const { kind, form, server } = side;
  const element = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => element.current?.querySelector('input')?.focus({ preventScroll: true }), []);
  useLayoutEffect(() => element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [
    form.refusals.value,
  ]);
  if (server) return <Approval builder={builder} server={server} />;
  const shown = (names: readonly string[]) =>
    form.fields.filter(({ name }) => names.some((each) => name === each || name.startsWith(`${each}.`)));
  return (
    <form
      ref={element}
      class='registry-page registry-form'
      data-testid='side-form'
      data-kind={kind}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void builder.keep();
      }}
    >
      <Problem text={form.problem.value} testId='form-problem' />
      <FormFields form={form} fields={shown(fieldsOf[kind])} />
      {kind === 'tool' && (
        <>
          <ToolWork form={form} control={builder.control} />
          <FormFields form={form} fields={shown(['approval', 'secrets'])} />
          <details class='registry-reason'>
            <summary>As JSON</summary>
            <FormFields form={form} fields={shown(['paramsSchema', 'config'])} />
          </details>
        </>
      )}
      <div class='dialog-foot registry-foot'>
        <button type='button' class='button' data-testid='side-leave' onClick={() => builder.leave()}>Cancel</button>
        <button type='submit' class='button is-primary' data-testid='side-keep' disabled={form.isSaving.value}>
          {kind === 'mcpServer' ? 'Save and review' : 'Save and use'}
        </button>
      </div>
    </form>
  );
}

function Approval({ builder, server }: { builder: Builder; server: NonNullable<Side['server']> }): JSX.Element {
  return (
    <div class='registry-page' data-testid='side-server'>
      <McpSections server={server.record as McpServer} check={server.check} control={builder.control} />
      <div class='dialog-foot'>
        <button type='button' class='button is-primary' data-testid='side-leave' onClick={() => builder.leave()}>
          Back to the agent
        </button>
      </div>
    </div>
  );
}

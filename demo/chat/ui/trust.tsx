import type { JSX } from 'preact';
import type { AgentCard } from '../../control/page-control.ts';
import { GuideLink } from '../../kit/guide-link.tsx';

const levels = {
  watched: { label: 'Watched', means: 'Once it has read what others have written, each action asks you' },
  guarded: { label: 'Guarded', means: 'Its model does not see what others have written' },
} as const;

/** The level of an agent that is not open. */
export function TrustChip({ trust }: { readonly trust: NonNullable<AgentCard['trust']> }): JSX.Element {
  const { label, means } = levels[trust];
  return <span class='chip trust-chip' data-testid='trust' title={means}>{label}</span>;
}

/** What the chat has read that others have written, by source. */
export function HasRead({ read }: { read: readonly string[] }): JSX.Element {
  return (
    <p class='has-read' data-testid='has-read'>
      Has read: {read.map(wordsOf).join(', ')}. Others can have written there.{' '}
      <GuideLink page='guarded'>Why this matters</GuideLink>
    </p>
  );
}

const kinds: Readonly<Record<string, string>> = {
  '*': 'words of unknown origin',
  file: 'a file of yours',
  model: 'another model',
};

/** `mcp:mail` is "mail", `data-source:handbook` is "handbook". */
function wordsOf(source: string): string {
  const [kind = '', ...id] = source.split(':');
  return kinds[kind] ?? id.join(':').replaceAll('_', ' ');
}

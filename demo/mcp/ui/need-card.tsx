import type { NeedCardProps } from './question-card.tsx';
import type { JSX } from 'preact';
import { type Need, readAs } from '../../chat/state/run-data.ts';
import { NeedData } from '../state/need-data.ts';
import { QuestionCard } from './question-card.tsx';
import { SignInCard } from './sign-in-card.tsx';

/** What an MCP server needs of the person before a call goes on. */
export function NeedCard(
  { need: given, ...props }: Omit<NeedCardProps, 'need'> & { readonly need: Need },
): JSX.Element {
  const need = readAs(NeedData, given);
  if (!need) return <p class='field-error'>This page cannot show the server’s question. Reload the page.</p>;
  return need.kind === 'sign_in' ? <SignInCard {...props} need={need} /> : <QuestionCard {...props} need={need} />;
}

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Dialog } from '../../kit/dialog.tsx';
import { formatCount, formatDuration, formatTokens } from '../../kit/format.ts';
import type { Chat } from '../state/chat.ts';
import { cachedShare, type ChatFigures, sumOf } from '../state/figures.ts';
import { Fact } from './fact.tsx';
import '../styles/totals.css';
import { Button } from '../../kit/button.tsx';

/** The tokens and the cost of the shown answers, with details in a dialog. Nothing before an answer has figures. */
export function ChatTotals({ chat }: { chat: Chat }): JSX.Element | null {
  const isOpen = useSignal(false);
  const figures = sumOf(chat.messages.value);
  const share = cachedShare(figures.cachedTokens, figures.tokensIn);
  if (figures.tokens === 0 && figures.costs.length === 0) return null;
  return (
    <>
      <Button
        kind='quiet'
        class='chat-totals'
        testId='chat-totals'
        title='Tokens and cost of this chat'
        aria-haspopup='dialog'
        onClick={() => (isOpen.value = true)}
      >
        <span>{figures.isEstimated && '≈ '}{formatTokens(figures.tokens)}</span>
        {share && <span>· {share}</span>}
        {figures.costs.map((cost) => <span key={cost} class='chat-totals-cost'>· {cost}</span>)}
      </Button>
      {isOpen.value && <TotalsDialog chat={chat} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

/** The details of those figures. */
export function TotalsDialog({ chat, onClose }: { readonly chat: Chat; readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog class='dialog-plain totals' label='Tokens and cost of this chat' testId='totals' onClose={onClose}>
      <h2>Tokens and cost of this chat</h2>
      <Details figures={sumOf(chat.messages.value)} />
      <Button testId='totals-close' onClick={onClose}>Close</Button>
    </Dialog>
  );
}

function Details({ figures }: { figures: ChatFigures }): JSX.Element {
  const { tokens, tokensIn, tokensOut, cachedTokens, tokensSaved, breaks, toolCalls, durationMs, costs } = figures;
  const { answers, priced } = figures;
  const about = figures.isEstimated ? 'about ' : '';
  const isSplit = tokensIn + tokensOut > 0; // the sum of a plan is not
  return (
    <>
      <dl class='facts'>
        <Fact name='Answers' value={answers.toLocaleString('en')} />
        <Fact
          name={isSplit ? 'Input tokens' : 'Tokens'}
          value={`${about}${(isSplit ? tokensIn : tokens).toLocaleString('en')}`}
        />
        {cachedTokens > 0 && (
          <Fact
            name='Read from cache'
            value={`${formatCount(cachedTokens, 'input token')}, ${cachedShare(cachedTokens, tokensIn) ?? ''}`}
          />
        )}
        {breaks.length > 0 && (
          <Fact name='Changed prompts' value={`${breaks.length.toLocaleString('en')}: ${breaks.join(', ')}`} />
        )}
        {isSplit && <Fact name='Output tokens' value={`${about}${tokensOut.toLocaleString('en')}`} />}
        {tokensSaved > 0 && (
          <Fact name='Saved by discovery' value={`about ${formatCount(tokensSaved, 'input token')}`} />
        )}
        {toolCalls > 0 && <Fact name='Tool calls' value={toolCalls.toLocaleString('en')} />}
        {durationMs > 0 && <Fact name='Time' value={formatDuration(durationMs)} />}
        <Fact name='Cost' value={costs.join(' + ') || 'Unknown'} />
      </dl>
      <p class='totals-note'>
        {priced === 0
          ? 'To see the cost, add prices to the provider’s record in the registry.'
          : priced < answers && `${answers - priced} of ${formatCount(answers, 'answer')} had no prices.`}{' '}
        Other versions of an answer are not counted.
      </p>
    </>
  );
}

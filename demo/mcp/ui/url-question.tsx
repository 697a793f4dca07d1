import type { JSX } from 'preact';
import type { Ask } from '../state/need-data.ts';

interface UrlQuestionProps {
  readonly ask: Pick<Extract<Ask, { readonly mode: 'url' }>, 'url'>;
  readonly onOpen: () => void;
}

/** An address that a server asks to open: shown whole, and opened by a click alone. */
export function UrlQuestion({ ask: { url }, onOpen }: UrlQuestionProps): JSX.Element {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'https:') return <p class='field-error'>The address is not an https address.</p>;
  const { host, href } = parsed;
  const rest = href.slice(`https://${host}`.length);
  const isPunycode = host.split('.').some((label) => label.startsWith('xn--'));
  return (
    <>
      <p class='mcp-address' data-testid='ask-address'>
        https://<b>{host}</b>
        {rest}
      </p>
      {isPunycode && (
        <p class='field-error' data-testid='ask-punycode'>
          The name of this site contains letters that look like other letters. Check that you know {host}.
        </p>
      )}
      <p>
        <a
          class='button'
          href={href}
          target='_blank'
          rel='noopener noreferrer'
          data-testid='ask-open'
          onClick={onOpen}
        >
          Open {host}
        </a>
      </p>
      <p class='field-help'>The site opens in a new tab and does not see this chat. Come back when you are done.</p>
    </>
  );
}

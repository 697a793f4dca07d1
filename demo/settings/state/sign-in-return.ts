/** What the window of a sign-in does when it comes back to this page: it passes the code on and closes. */

/** Carries the code to the page that started the sign-in: the provider's window may have no opener any more. */
export const signInChannel = 'pinnace-sign-in';
/** In the address that the provider returns to. */
export const stateParameter = 'sign-in';

/** What comes back. Without a code the person has declined. */
export interface SignInReturn {
  readonly state: string;
  readonly code?: string;
}

/** Whether a message of the channel is one. */
export function isReturn(data: unknown): data is SignInReturn {
  return typeof data === 'object' && data !== null && 'state' in data;
}

/** Passes on what an address holds. */
export function passOn(href: string): void {
  const { searchParams } = new URL(href);
  const code = searchParams.get('code');
  const channel = new BroadcastChannel(signInChannel);
  const message: SignInReturn = { state: searchParams.get(stateParameter) ?? '', ...(code !== null && { code }) };
  channel.postMessage(message);
  channel.close();
}

/** Ends the window. Browsers do not close one that a person has opened. */
export function endWindow(root: HTMLElement): void {
  const text = document.createElement('p');
  text.dataset['testid'] = 'signed-in';
  text.textContent = 'You can close this window and go back to the playground.';
  root.replaceChildren(text);
  window.close();
}

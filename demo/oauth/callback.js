/** Where authorization servers send people back to: hands the answer to the page that started the sign-in, and closes. */

const channelName = 'pinnace-sign-in'; // as in demo/mcp/state/callback-channel.ts, whose checks this page does not need
const waitMs = 8000;
const closeMs = 1500;

const query = new URLSearchParams(location.search);
history.replaceState(null, '', location.pathname); // the code stays in no history
const state = query.get('state') ?? '';
const channel = new BroadcastChannel(channelName);
const timer = setTimeout(
  () =>
    show(
      'Nothing waits for this sign-in',
      'The page that started it was closed or reloaded. Go back to Pinnace and sign in again.',
    ),
  waitMs,
);

channel.addEventListener('message', ({ data }) => {
  if (data?.type !== 'outcome' || data.state !== state) return;
  clearTimeout(timer);
  if (data.isSignedIn === true) {
    show('You are signed in', 'You can close this window.');
    setTimeout(() => close(), closeMs);
  } else show('You are not signed in', typeof data.text === 'string' ? data.text : 'Go back to Pinnace.');
});

const values = ['code', 'error', 'iss'].flatMap((name) => {
  const value = query.get(name);
  return value ? [[name, value]] : [];
});
channel.postMessage({ type: 'callback', state, ...Object.fromEntries(values) });

/** @param {string} title @param {string} text */
function show(title, text) {
  for (const [id, value] of [['title', title], ['text', text]]) {
    const element = document.getElementById(id);
    if (element) element.textContent = value;
  }
}

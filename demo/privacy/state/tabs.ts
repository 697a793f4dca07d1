/** Messages between the page's tabs before everything changes. */

const name = 'pinnace-page';

/** `quiet`: stop writing; `reload`: the stored data was replaced. */
type Word = 'quiet' | 'reload';

/** Sends the message to all other tabs. */
export function notifyTabs(word: Word): void {
  const channel = new BroadcastChannel(name);
  channel.postMessage(word);
  channel.close();
}

/** Does what other tabs say, as long as the page lives. */
export function listenToTabs({ quiet, reload }: { readonly quiet: () => unknown; readonly reload: () => void }): void {
  new BroadcastChannel(name).addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (data === 'quiet') quiet();
    if (data === 'reload') reload();
  });
}

/** A lock that every open page holds, for the service worker to know which versions are in use: this, and the page's script. */
export const pageLock = 'pinnace-page ';

/** Where the tree stands on a page of this width. The style sheet says the same. */

/** Whether there is room for the tree beside the chat. */
export function isBeside(): boolean {
  return matchMedia('(min-width: 72rem)').matches;
}

/** Whether the tree covers all of the chat. */
export function isCovering(): boolean {
  return !matchMedia('(min-width: 56.25rem)').matches;
}

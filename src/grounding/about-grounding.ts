/** What the definitions of the tools of grounding have in common. */

/** Returns the common part of a definition. */
export function aboutGrounding(id: string, title: string) {
  return { id, title, type: 'builtin' as const, category: 'grounding', keywords: ['memory', 'context', 'search'] };
}

import type { ComponentChildren, JSX } from 'preact';
import { guideHref } from './guide-href.ts';

interface GuideLinkProps {
  readonly page: string;
  readonly anchor?: string;
  readonly children: ComponentChildren;
}

/** Leads to a page of the documentation, beside this one. */
export function GuideLink({ page, anchor, children }: GuideLinkProps): JSX.Element {
  return <a href={guideHref(page, anchor)} target='_blank' rel='noopener'>{children}</a>;
}

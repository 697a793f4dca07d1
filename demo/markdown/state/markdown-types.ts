/** What Markdown is read into. */

/** A piece of a document. */
export type Block =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string; readonly closed: boolean }
  /** A formula in TeX. */
  | { readonly type: 'math'; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | ListBlock
  | TableBlock
  | { readonly type: 'rule' };

/** A list. Items of a tight one are set without paragraphs. */
export interface ListBlock {
  readonly type: 'list';
  readonly start: number | undefined;
  readonly tight: boolean;
  readonly items: readonly ListItem[];
}

/** One item; `checked` where it is a task. */
export interface ListItem {
  readonly checked: boolean | undefined;
  readonly blocks: readonly Block[];
}

/** What a cell of a table holds. */
export type Cell = readonly Inline[];

/** A table; every row has as many cells as the head. */
export interface TableBlock {
  readonly type: 'table';
  readonly align: readonly ('left' | 'center' | 'right' | undefined)[];
  readonly head: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A piece of a line. HTML is text like any other. */
export type Inline =
  | string
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'break' }
  | { readonly type: 'math'; readonly text: string; readonly isBlock: boolean }
  /** `[1]`, or `[1, 3]`: a citation where these numbers have sources, else its text. */
  | { readonly type: 'citation'; readonly numbers: readonly number[]; readonly text: string }
  | { readonly type: 'strong' | 'em' | 'del'; readonly children: readonly Inline[] }
  /** An image, too: a chat loads none and shows the way there. */
  | { readonly type: 'link'; readonly href: string; readonly isImage?: true; readonly children: readonly Inline[] };

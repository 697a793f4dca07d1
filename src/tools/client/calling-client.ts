/** The program that called a tool and waits for its result, such as an MCP client: it can ask its person or its model. */

import type { JsonSchema } from '../../base/schema.ts';

/** A question to the client. */
export type ClientQuestion =
  | {
    readonly kind: 'form';
    readonly message: string;
    /** The fields: an object of text, numbers, booleans and choices, at most 20. Never ask for a secret. */
    readonly schema: JsonSchema;
  }
  | {
    readonly kind: 'url';
    readonly message: string;
    /** The page to open, with `https`. */
    readonly url: string;
  }
  | {
    readonly kind: 'sampling';
    readonly messages: readonly {
      readonly role: 'user' | 'assistant';
      readonly content: { readonly type: 'text'; readonly text: string };
    }[];
    readonly maxTokens: number;
    readonly systemPrompt?: string;
  }
  | { readonly kind: 'roots' };

/** Questions by key. */
export type ClientQuestions = Readonly<Record<string, ClientQuestion>>;

/** The answer to each kind of question. The client sent it: treat it as input. */
export interface ClientAnswers {
  readonly form: {
    readonly action: 'accept' | 'decline' | 'cancel';
    /** Present with `accept`; fits the schema. */
    readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  };
  /** `accept` means that the page was opened. */
  readonly url: { readonly action: 'accept' | 'decline' | 'cancel' };
  readonly sampling: { readonly role: string; readonly content: unknown; readonly model?: string };
  readonly roots: { readonly roots: readonly { readonly uri: string; readonly name?: string }[] };
}

/** The answers to questions. */
export type AnswersTo<Questions extends ClientQuestions> = {
  readonly [Key in keyof Questions]: ClientAnswers[Questions[Key]['kind']];
};

/** The client of a call. */
export interface CallingClient {
  /** Whether the client can answer questions of this kind. */
  canAnswer(kind: ClientQuestion['kind']): boolean;
  /**
   * Returns the answers to the questions. Until the client has answered, `ask` ends the execution: the tool is executed again from its
   * start when the answers have arrived, and `ask` then returns them. So ask before you act, and ask the same again for the same input.
   *
   * Answers count only with the state that came with the questions: for the same principal, tool and input, once, within an hour.
   * With `bound: false` answers also count when they come with the first request.
   *
   * @throws PinnaceError `unavailable` (`client_cannot_answer`), `invalid_argument` (`question_invalid`, `secret_in_form`),
   * `budget_exceeded` (`too_many_rounds`) after 8 rounds.
   * @example
   * const { who } = await client.ask({ who: { kind: 'form', message: 'Who is it for?', schema } });
   */
  ask<const Questions extends ClientQuestions>(
    questions: Questions,
    options?: { readonly bound?: boolean },
  ): Promise<AnswersTo<Questions>>;
}

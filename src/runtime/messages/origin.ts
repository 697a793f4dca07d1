/** Which message of the chat a message for the model was made of. Kept beside it: all of its own fields go to the provider. */

/** The origin of a message for the model. */
export interface MessageOrigin {
  /** The id of the chat's message, or of the last one that a summary covers. */
  readonly id: string;
  /** Context of a request, and the summary of earlier messages, are data in a message of the user. */
  readonly kind: 'user' | 'assistant' | 'context' | 'summary';
  /** A pinned message is never summarized or left out. */
  readonly isPinned: boolean;
}

const origins = new WeakMap<object, MessageOrigin>();

/** Returns the message, with its origin known. */
export function withOrigin<Message extends object>(message: Message, origin: MessageOrigin | undefined): Message {
  if (origin) origins.set(message, origin);
  return message;
}

/** The origin of a message; `undefined` for one that the run has added. */
export function originOf(message: object): MessageOrigin | undefined {
  return origins.get(message);
}

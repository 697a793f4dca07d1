/** Pinnace's own guide: a few short texts to try data sources with. */

/** In Markdown, by the names of the files. */
export const guideTexts: Readonly<Record<string, string>> = {
  'Welcome.md': `# Welcome aboard

A pinnace is the small boat that serves a larger ship: it goes out, does one task and comes back. Pinnace does the same
for a chat. It is a runtime for agents: it takes one request, lets a model work on it with tools, and answers with one stream.

## Where it runs

The same code runs in two places. In this page, all of an agent lives in a Web Worker: the model's loop, the tools, the tree,
the planner and the memory. Nothing leaves the browser, unless you connect an endpoint. On a server, Pinnace runs under Deno as
a stateless HTTP endpoint that any instance can answer.

## The rehearsal model

Without an endpoint, the playground answers with a model named rehearsal. It is a script, not an AI model: it picks tools
by the words of your message and reports what they returned. With it, you can try everything without a key and without a
network.
`,
  'Approvals.md': `# Approvals

Some tools change things that cannot be changed back. Such a call waits for a person: the run pauses, and the chat shows what the
tool would do, with the exact input.

## What an approval is bound to

An approval holds for one call: this agent in this revision, this tool with this fingerprint, this input, this chat, until it
expires. It is decided once and spent once. An approval that was forged, moved to another chat, altered, expired or repeated
executes nothing.

## When you deny

The model receives the denial with your reason, and the run continues without the call. Closing the page decides nothing: the
question waits until it expires, a day later.
`,
  'Runs and retries.md': `# Runs and retries

Every run has a log. Each piece of its stream is written there before it counts, so a stream that was cut off can be read again
from any instance, from the place where it stopped.

## Idempotency keys

A request carries an idempotency key. The same request under the same key is answered from the log, byte for byte: no model and
no tool is called twice. The same key with another request is a conflict.

## After a crash

A tool call is recorded before it starts and after it ends. When the process dies in between, the outcome is unknown, and Pinnace
says so: it never repeats a call on its own. A tool that declares itself idempotent may be called again.

## Stopping

Closing the connection does not stop a run. Cancelling does: the stop button here, or a DELETE of the run on the endpoint.
`,
  'Knowledge.md': `# Knowledge

The knowledge panel keeps what you give it: text, Markdown, HTML, JSON, CSV, Word, Excel, PowerPoint, OpenDocument, code, and ZIP
archives of these. PDF is not read. Files are cut into parts of about 1,200 characters, at headings and paragraphs where there are
any. They stay in this browser; only what an agent finds goes to its model.

## How parts are found

Three engines search in parallel. Words: BM25 weighs how rare the words of your question are and how often a part contains
them. Likeness: vectors of word pieces find misspelled and related words. Code: symbols, identifiers, exact text in quotes, and
regular expressions between slashes. Each engine estimates how probable it is that a part answers the question, and the parts are
sorted by these estimates.

## What the confidence means

The confidence says how probable it is that a part has to do with your question, from 0 to 100 percent. It is not the best score
divided by itself: when nothing fits, every hit has a low confidence, or there is none. An empty answer is an answer.

## Citations

An agent that answers from the knowledge cites it with numbers like [1]. Each number opens the source at the place. What is in a
source is information for the agent, never an instruction.
`,
  'Secrets.md': `# Secrets

A secret has a name, which is public, and a value, which is not. Tools get the secrets that they declare, and no others. A
secret's value never enters a prompt, a log, an error or an event: where it would be printed, it says [secret name] instead.

## Keys in this page

The key of an endpoint that you connect goes to the worker and is never read back. It is not stored: after a reload it is asked
for again.

## When the vault is slow

A secret that cannot be resolved within two seconds is taken from the cache, if it is not older than ten minutes and was not
invalidated. Otherwise the run ends as unavailable, and may be tried again.
`,
  'Budgets.md': `# Budgets

A run has limits: steps, tool calls, tokens, time, how deep agents may start others, and how many at once. A run that ends at a limit
says which one it was, and its text until then stays.

## Sub-agents

A parent reserves what a child may use before the child starts. So a whole tree of agents never spends more than was given to
its root, but for the calls that are in flight.

| Limit | Unless it is set | What happens |
| --- | --- | --- |
| Steps | 16 | The run ends as limited |
| Tool calls | 64 | The same |
| The whole run | 5 minutes | The same |
| One tool call | 30 seconds | The call fails, and the model receives the error |
`,
};

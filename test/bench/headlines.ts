/** Which figures the README shows, in its words and its order, met or missed. `docs/figures.md` has all. */

/** One line of the README's table. */
export interface Headline {
  readonly what: string;
  /** Match the report's title and the figure's name. */
  readonly title: RegExp;
  readonly figure: RegExp;
}

/** All of them; one whose benchmark was not run has no line. */
export const headlines: readonly Headline[] = [
  { what: 'CPU of a run; peer: the AI SDK alone', title: /^Overhead/, figure: /^CPU, Pinnace: run/ },
  {
    what: 'CPU of a run with log, events, audit and redaction; peer: the AI SDK alone',
    title: /^Overhead/,
    figure: /^CPU, Pinnace: log/,
  },
  { what: 'Time to first byte of 500 simultaneous runs', title: /^The endpoint/, figure: /^first byte/ },
  { what: 'Completed runs of 500 simultaneous ones', title: /^The endpoint/, figure: /^runs at once/ },
  { what: 'Events over SSE; peer: `Deno.serve` alone', title: /^The endpoint/, figure: /^events over SSE/ },
  { what: 'Verified signed requests of 8 KiB', title: /^The endpoint/, figure: /^signed requests/ },
  { what: 'Cold start on Deno, bundled', title: /^Cold start/, figure: /the bundled/ },
  { what: 'A tool call through all checks, CPU', title: /^Tools/, figure: /^invokeTool/ },
  {
    what: 'A program of one call on Deno; peer: an empty process',
    title: /^Programs on Deno/,
    figure: /^A program of one/,
  },
  {
    what: 'Tokens of 50 calls in a program; peer: parallel calls',
    title: /^Tokens of programs/,
    figure: /^50 calls.*parallel/,
  },
  {
    what: 'Finding one of 5,000 tools: first hit, first five',
    title: /^Finding tools$/,
    figure: /^Recall @1\/@5, Pinnace/,
  },
  { what: 'A query among 100,000 tools', title: /^Finding tools among 100000/, figure: /^Query/ },
  { what: 'CPU per task of a plan of 10,000 tasks', title: /^10,000 tasks/, figure: /^Pinnace/ },
  {
    what: 'The same; peer: LangGraph with checkpoints',
    title: /^10,000 tasks/,
    figure: /LangGraph Send, synchronous/,
  },
  {
    what: 'A tree of a million nodes: toggle a branch, show a page',
    title: /^balanced 1\d{6}$/,
    figure: /^toggle and page/,
  },
  { what: 'A query among 100,000 vectors', title: /^100000 vectors/, figure: /^query, CPU/ },
  { what: 'The same; peer: LangChain’s in-memory store', title: /^100000 vectors/, figure: /LangChain/ },
  { what: 'Playground: time until a chat can start', title: /^The playground/, figure: /^Start: the agent/ },
  {
    what: 'Playground: key delay during 200 chunks/s',
    title: /^The playground/,
    figure: /chunks\/s.*interaction/,
  },
  { what: 'Heap growth in twenty minutes of 100 paced runs at once', title: /^Soak: 20 minutes/, figure: /^heap/ },
];

/** Which figures the README shows, in its words and its order, met or missed. `docs/figures.md` has all. */

/** One line of the README's table. */
export interface Headline {
  readonly what: string;
  /** The report's title and the figure's name, as the benchmark gives them. */
  readonly title: RegExp;
  readonly figure: RegExp;
}

/** All of them; one whose benchmark was not run has no line. */
export const headlines: readonly Headline[] = [
  { what: 'CPU of a run, beside the AI SDK alone', title: /^Overhead/, figure: /^CPU, Pinnace/ },
  { what: 'CPU of a run with log, audit and events on, beside all off', title: /^Events/, figure: /everything on$/ },
  { what: 'First byte of 500 runs that begin at once', title: /^The endpoint/, figure: /^first byte/ },
  { what: '500 runs at once that are complete', title: /^The endpoint/, figure: /^runs at once/ },
  { what: 'Events over SSE, beside `Deno.serve` alone', title: /^The endpoint/, figure: /^events over SSE/ },
  { what: 'Signed requests of 8 KiB that are verified', title: /^The endpoint/, figure: /^signed requests/ },
  { what: 'Cold start under Deno, one bundled file', title: /^Cold start/, figure: /bundled/ },
  { what: 'A tool call through all checks, CPU', title: /^Tools/, figure: /^invokeTool/ },
  {
    what: 'Finding one of 5,000 tools, the first hit / the first five',
    title: /^Finding tools$/,
    figure: /^Recall @1\/@5, Pinnace/,
  },
  { what: 'A query among 100,000 tools', title: /^Finding tools among 100000/, figure: /^Query/ },
  { what: 'A plan of 10,000 tasks, CPU of one', title: /^10,000 tasks/, figure: /^Pinnace/ },
  {
    what: 'The same, beside LangGraph with checkpoints',
    title: /^10,000 tasks/,
    figure: /LangGraph Send, synchronous/,
  },
  {
    what: 'A tree of a million nodes: toggle a branch, show a page',
    title: /^balanced 1\d{6}$/,
    figure: /^toggle and page/,
  },
  { what: 'A query among 100,000 vectors', title: /^100000 vectors/, figure: /^query, CPU/ },
  { what: 'The same, beside LangChain’s store in memory', title: /^100000 vectors/, figure: /LangChain/ },
  { what: 'The playground: until an agent can be asked', title: /^The playground/, figure: /can be asked$/ },
  {
    what: 'The playground: a key’s wait beside a stream of 200 chunks/s',
    title: /^The playground/,
    figure: /chunks\/s.*interaction/,
  },
  { what: 'Ten minutes of churn: growth of the heap', title: /^Soak/, figure: /^heap/ },
];

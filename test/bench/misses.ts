/** Why bars are missed, from profiles. `docs/figures.md` shows the reason below the table of a figure that misses its bar. */

interface Miss {
  /** Match the report's title and the figure's name. */
  readonly title: RegExp;
  readonly figure: RegExp;
  readonly why: string;
}

const misses: readonly Miss[] = [
  {
    title: /^Events/,
    figure: /^A run, everything on/,
    why:
      'Sinks and audit cost 0.4 to 0.6 ms a run, which does not grow with the answer. Of a run with everything on, the two ' +
      'audit records of a call that may act and the block of events take 17 % (12 % their commits of 26 rows to the storage ' +
      'in memory, 5 % their hashes), spans 4 %, JSON 3 %, digests of inputs 2.5 %; collecting garbage takes 11 %. The run ' +
      'without them became three times as fast. "Overhead of a run" compares the same with the AI SDK.',
  },
  {
    title: /^Recorded inputs/,
    figure: /^CPU of a run with keep/,
    why:
      'Digests of prompts take 5 to 6 % with the promises around them, the JSON text of the request 1 to 2 %. The rest is probably garbage: ' +
      'the storage in memory holds the request of each run once more.',
  },
  {
    title: /^Programs on Deno/,
    figure: /^Each further call, the bridge alone/,
    why:
      'A bare echo between two processes, whose promises settle in a turn of the event loop before it reads, takes most of it, see beside: ' +
      'writing to a pipe wakes the other process, and the turn takes 40 us. Of the time on the host writing takes 48 %, reading ' +
      'and checking messages 8 %, starting the process 6 %, collecting garbage 4 %. No other function takes more than 2 %.',
  },
  {
    title: /^Programs on Deno/,
    figure: /^Each further call of a run/,
    why:
      'The bridge takes half, see above. Of the time on the host writing to the pipe takes 25 %, collecting garbage 8 %, reading ' +
      'and checking messages 5 %, hashing 3 %. No other function takes more than 2 %.',
  },
  {
    title: /^Programs on Deno/,
    figure: /^A program of one call/,
    why:
      'An empty process of Deno takes most of it, see beside. The rest is compiling the prelude and the program, and one call.',
  },
  {
    title: /^Finding tools$/,
    figure: /^Recall @1\/@5, Pinnace/,
    why:
      'Three of the five catalogs are below the mean at the first five, "toole" by most. Only words are compared: a tool that a ' +
      'request describes in other words is not found. `rerank` takes a model that may know better. Less weight for words that tools ' +
      'have together, words associated in the catalog, prefixes of unknown words, and shares of description and server that a ' +
      'request says were tried: none adds 0.2 points on both halves of the requests.',
  },
  {
    title: /^Finding tools$/,
    figure: /^Queries for other catalogues flagged/,
    why:
      'Of 60 random requests that were not recognized, a tool of the other catalog did serve 21, so at most 81 % can be flagged. ' +
      'The rest use words that tools say with another meaning ("library", "New York"). Frequencies of English, clauses, quoted ' +
      'values, how much of a tool the request says, whether the best tools agree, verb and object, the rarest words, and the ' +
      'spelling of unknown words were tried: none adds 2 points with each catalog left out.',
  },
  {
    title: /^Tools$/,
    figure: /^A run that finds one of 5,000/,
    why:
      'Ranking the query takes 15 %, collecting garbage 14 %, remembering the loaded tool for the chat 4 %. The rest is what a ' +
      'run with three tool calls takes, and recording longer outputs.',
  },
  {
    title: /^Overhead/,
    figure: /^CPU, Pinnace: log/,
    why:
      'Of the time of such a run, collecting garbage takes 15 %, commits to the storage in memory 14 %, linking and storing ' +
      'the records of audit and events 17 % (half of it hashing them and their JSON). The part does not grow with the answer.',
  },
  {
    title: /^The endpoint/,
    figure: /^first byte/,
    why:
      'A start takes 1.3 to 2.0 ms of CPU on a loaded machine: it verifies a signature and a digest, checks the request and ' +
      'commits, which the AI SDK alone does not do. Collecting garbage takes 19 %, waiting for WebCrypto 5 %, the order of ' +
      'the keys in memory 5 %, timers 2 %. No other function takes more than 2 %.',
  },
  {
    title: /^The endpoint/,
    figure: /^memory of the server/,
    why:
      'An open run holds 49 kB of heap: 124 objects, 107 closures with variables, 48 texts and 4 timers. The rest is garbage ' +
      'of 500 starts that is not collected yet: signed headers, bodies and streams.',
  },
  {
    title: /^Paced runs/,
    figure: /open streams/,
    why:
      'An open run holds 49 kB of heap (124 objects, 107 closures with variables, 48 texts, 4 timers; measured on Node). The ' +
      'rest is the runtime, its code, the client of the database, and garbage that is not collected yet.',
  },
  {
    title: /^balanced 1/,
    figure: /^expand all/,
    why:
      'Writing the columns of the blocks of nodes takes two thirds, finding the end of the subtree 13 %, finding and showing ' +
      'the page 15 %.',
  },
  {
    title: /^balanced 1/,
    figure: /^load$/,
    why:
      'Of repeated loads, finding places in the index of ids takes 35 %, entering the rows 23 %, hashing the ids 13 %, finding ' +
      'parents 5 %. Each measurement follows a full collection, which empties caches and drops compiled code: without it the ' +
      'ratio is 1.0. With a million nodes loading takes two thirds of the time of the peer.',
  },
  {
    title: /^balanced 1/,
    figure: /^toggle and page/,
    why:
      'Making the rows of the page takes 53 %, counting the visible nodes of the two blocks at the ends of the subtree 21 %, ' +
      'collecting garbage 12 %, finding the end of the subtree 8 %, hiding or showing it 6 %.',
  },
  {
    title: /^100,000 items/,
    figure: /^longest turn/,
    why:
      'Work stops every 2 ms, and about one of 1,000 turns takes longer than 8 ms. In most of these V8 ends a collection of garbage, ' +
      'which takes 74 to 98 % of their CPU time: it moves objects and updates what points to them. In the others it puts optimized ' +
      'code in place: 291 of 294 times within 3 ms, three times in 14 to 42 ms on a busy machine.',
  },
  {
    title: /^100,000 items/,
    figure: /^fusion and confidence/,
    why:
      'Collecting garbage takes 24 %, joining hits by their content, id and lines 17 %, making groups 20 %, making confidences ' +
      'fall 8 %, copying the hits into the answer 13 %.',
  },
  {
    title: /^100000 vectors/,
    figure: /^build, CPU/,
    why:
      'Making each vector one of length one takes 30 % (half of it allocating memory for it), copying it into its segment 15 %, ' +
      'its code 25 %, collecting garbage 11 %, finding rows by id 11 %.',
  },
  {
    title: /^Finding tools among 100000/,
    figure: /^Build/,
    why:
      'Looking up the terms of 5.4 million words takes 33 %, numbering the terms 11 %, cutting texts into words 11 %, adding tools to ' +
      'terms 9 %, weights 6 %, collecting garbage 6 %. Finding words by a hash of their characters, without a string for each, ' +
      'takes 30 % less time for the whole, but 0.2 kB that the main entry does not have.',
  },
  {
    title: /Chromium/,
    figure: /^100,000 texts indexed in a worker/,
    why:
      'One or two of 3,400 to 5,300 tasks take longer than 8 ms: 8.9, 23 and 66 ms were the longest of three runs on a busy machine. ' +
      'The one of 8.9 ms collected no garbage; the end of a collection took 6.9 ms.',
  },
  {
    title: /Chromium/,
    figure: /^Opening it: longest task/,
    why:
      'Of a task of 55 ms, the thread works 19 ms (35 %): it draws the messages in sight for 13 ms, and follows the messages read ' +
      'for 6 ms. The rest waits for a processor, which the page shares with the worker, the browser and the person who is ' +
      'simulated. Layout and paint are the next task, of 12 to 20 ms.',
  },
  {
    title: /Chromium/,
    figure: /million nodes: longest task/,
    why:
      'The row below has the work of the thread in its longest task: for the rest of the time the task waited for a processor, ' +
      'which the page shares with the worker, the browser and the person who is simulated.',
  },
];

/** Returns the reason why this figure misses its bar; `undefined` where none is known. */
export function whyMissed(title: string, figure: string): string | undefined {
  return misses.find((miss) => miss.title.test(title) && miss.figure.test(figure))?.why;
}

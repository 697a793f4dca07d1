/** Words that say nothing of what a tool does: those of English grammar, and the fillers of requests. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about after again all also always am an and another any anyone anything are as at be because been before being between
both but by can could d did do does don down during each else etc ever every few for from further get give had has have he
her him himself her hers how however i if im in into is it its just looking ll m many may me might more most much must my
need needs no nor not now of off on once one only or other others our out over own per please provide re same shall she
should show since so some someone something still such tell than that the their them themselves then there these they this
those though through to too under until up upon us use using ve very via want wanted wants was we well were what when where
which while who whom whose why will with within without would yes yet you your
find help let like look t s`.split(/\s+/),
);

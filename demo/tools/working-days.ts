/** Working days, Monday to Friday. Holidays differ by place and are not known here. */

/** Counts the working days from one day until another, both included; negative when the second is the earlier one. */
export function countWorkingDays(from: Temporal.PlainDate, until: Temporal.PlainDate): number {
  if (Temporal.PlainDate.compare(from, until) > 0) return -countWorkingDays(until, from);
  const days = from.until(until).days + 1;
  let count = Math.floor(days / 7) * 5;
  for (let i = 0; i < days % 7; i++) count += Number(isWorkingDay(from.add({ days: i })));
  return count;
}

/** Returns the day that is so many working days later, or earlier when negative. */
export function addWorkingDays(day: Temporal.PlainDate, count: number): Temporal.PlainDate {
  if (count === 0) return day;
  const step = Math.sign(count);
  let result = day;
  while (!isWorkingDay(result)) result = result.subtract({ days: step }); // a weekend counts as the working day before it
  result = result.add({ days: Math.trunc(count / 5) * 7 });
  for (let left = Math.abs(count % 5); left > 0;) {
    result = result.add({ days: step });
    if (isWorkingDay(result)) left--;
  }
  return result;
}

function isWorkingDay({ dayOfWeek }: Temporal.PlainDate): boolean {
  return dayOfWeek < 6;
}
